"""Model files for tests."""

EXCHANGE = """<?xml version="1.0" encoding="UTF-8"?>
<model xmlns="http://www.opengroup.org/xsd/archimate/3.0/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xmlns:dc="http://purl.org/dc/elements/1.1/" identifier="model-1">
  <name xml:lang="en">Corner  shop</name>
  <name xml:lang="de">Eckladen</name>
  <documentation>A shop &amp; its &lt;systems&gt;</documentation>
  <properties><property propertyDefinitionRef="p-owner"><value>Ada</value></property></properties>
  <metadata><schema>Dublin Core</schema><schemaversion>1.1</schemaversion><dc:creator>Ada</dc:creator></metadata>
  <elements>
    <element identifier="e-orders" xsi:type="ApplicationComponent">
      <name xml:lang="en">Orders</name><name xml:lang="de">Bestellungen</name>
      <documentation>Takes
orders</documentation>
      <properties>
        <property propertyDefinitionRef="p-cost"><value>12</value></property>
        <property propertyDefinitionRef="p-note">
          <value xml:lang="en">note</value><value xml:lang="de">Notiz</value>
        </property>
      </properties>
    </element>
    <element identifier="e-ordering" xsi:type="ApplicationService"><name>Ordering</name></element>
    <element identifier="e-order" xsi:type="DataObject"><name>Order</name></element>
    <element identifier="e-pick" xsi:type="BusinessProcess"><name>Pick</name></element>
    <element identifier="e-pack" xsi:type="BusinessProcess"><name>Pack</name></element>
    <element identifier="e-goal" xsi:type="Goal"><name>Growth</name></element>
    <element identifier="e-both" xsi:type="AndJunction"/>
    <element identifier="e-group" xsi:type="Grouping"><name>All</name></element>
  </elements>
  <relationships>
    <relationship identifier="r-1" source="e-orders" target="e-ordering" xsi:type="Realization">
      <name>offers</name>
    </relationship>
    <relationship identifier="r-2" source="e-ordering" target="e-order" xsi:type="Access" accessType="ReadWrite"/>
    <relationship identifier="r-3" source="e-orders" target="e-goal" xsi:type="Influence" modifier="++"/>
    <relationship identifier="r-4" source="e-group" target="e-pick" xsi:type="Association" isDirected="true"/>
    <relationship identifier="r-5" source="e-pick" target="e-both" xsi:type="Triggering"/>
    <relationship identifier="r-6" source="e-both" target="e-pack" xsi:type="Triggering"/>
    <relationship identifier="r-7" source="e-goal" target="r-1" xsi:type="Association"/>
  </relationships>
  <organizations>
    <item><label xml:lang="en">Application</label>
      <item identifierRef="e-orders"/><item identifierRef="e-ordering"/>
    </item>
    <item><label xml:lang="en">Views</label><item identifierRef="v-1"/></item>
  </organizations>
  <propertyDefinitions>
    <propertyDefinition identifier="p-owner" type="string"><name>Owner</name></propertyDefinition>
    <propertyDefinition identifier="p-cost" type="number"><name>Cost</name></propertyDefinition>
    <propertyDefinition identifier="p-note" type="string"><name>Note</name></propertyDefinition>
  </propertyDefinitions>
  <views><diagrams>
    <view identifier="v-1" xsi:type="Diagram">
      <name xml:lang="en">Main</name>
      <node identifier="n-1" elementRef="e-orders" xsi:type="Element" x="10" y="10" w="120" h="55">
        <style><fillColor r="181" g="255" b="255"/></style>
        <node identifier="n-3" elementRef="e-order" xsi:type="Element" x="20" y="20" w="60" h="30"/>
      </node>
      <node identifier="n-2" elementRef="e-ordering" xsi:type="Element" x="200" y="10" w="120" h="55"/>
      <node identifier="n-4" xsi:type="Label" x="200" y="100" w="80" h="20"><label>Hello</label></node>
      <connection identifier="c-1" relationshipRef="r-1" xsi:type="Relationship" source="n-1" target="n-2">
        <bendpoint x="150" y="40"/>
      </connection>
      <connection identifier="c-2" relationshipRef="r-2" xsi:type="Relationship" source="n-2" target="n-3"/>
    </view>
  </diagrams></views>
</model>
"""

ARCHI = """<?xml version="1.0" encoding="UTF-8"?>
<archimate:model xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xmlns:archimate="http://www.archimatetool.com/archimate" name="Corner shop" id="11" version="5.0.0">
  <folder name="Application" id="f1" type="application">
    <folder name="Inner" id="f2">
      <element xsi:type="archimate:ApplicationComponent" name="Orders" id="1" profiles="s1">
        <documentation>Takes orders</documentation>
        <property key="team" value="A"/><property key="team" value="B"/>
      </element>
    </folder>
    <element xsi:type="archimate:DataObject" name="Order" id="2"/>
  </folder>
  <folder name="Other" id="f3" type="other">
    <element xsi:type="archimate:Junction" name="" id="3" type="or"/>
    <element xsi:type="archimate:Junction" id="4"/>
  </folder>
  <folder name="Motivation" id="f4" type="motivation">
    <element xsi:type="archimate:Goal" name="Growth" id="5"/>
  </folder>
  <folder name="Relations" id="f5" type="relations">
    <element xsi:type="archimate:AccessRelationship" id="r1" source="1" target="2"/>
    <element xsi:type="archimate:AccessRelationship" id="r2" source="1" target="2" accessType="1"/>
    <element xsi:type="archimate:InfluenceRelationship" id="r3" source="1" target="5" strength="+"/>
    <element xsi:type="archimate:AssociationRelationship" id="r4" source="1" target="5" directed="true"/>
  </folder>
  <folder name="Views" id="f6" type="diagrams">
    <element xsi:type="archimate:ArchimateDiagramModel" name="Main" id="v1">
      <child xsi:type="archimate:Group" id="d0" name="All"><bounds x="100" y="50" width="300" height="200"/>
        <child xsi:type="archimate:DiagramObject" id="d1" archimateElement="1">
          <bounds x="10" y="10" width="-1" height="-1"/>
          <sourceConnection xsi:type="archimate:Connection" id="k1" source="d1" target="d2" archimateRelationship="r2"/>
        </child>
      </child>
      <child xsi:type="archimate:DiagramObject" id="d2" archimateElement="2">
        <bounds x="500" y="50" width="120" height="55"/>
      </child>
      <child xsi:type="archimate:Note" id="d3">
        <bounds x="5" y="5" width="50" height="50"/><content>Mind this</content>
      </child>
    </element>
    <element xsi:type="archimate:SketchModel" name="Sketch" id="v2"/>
  </folder>
  <purpose>Sells things</purpose>
  <property key="owner" value="Ada"/>
  <profile name="Microservice" id="s1" conceptType="ApplicationComponent"/>
</archimate:model>
"""


def exchange(body: str) -> str:
    """A minimal exchange file around these lines."""
    return (
        '<model xmlns="http://www.opengroup.org/xsd/archimate/3.0/"'
        f' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" identifier="m"><name>M</name>{body}</model>'
    )


def element(identifier: str, kind: str, name: str) -> str:
    """An element of an exchange file."""
    return f'<element identifier="{identifier}" xsi:type="{kind}"><name>{name}</name></element>'
