"""The types that a document can have, the words that mean them, and what kind of record each is."""

from __future__ import annotations

from .sniffing import NOTHING_SAID

UNKNOWN = "document"

ALIASES: dict[str, tuple[str, ...]] = {
    "account": ("bank_account", "ledger_account"),
    "transaction": ("transactions", "txn", "expense", "payment"),
    "invoice": ("bill",),
    "receipt": ("proof_of_purchase",),
    "statement": ("bank_statement",),
    "budget": ("spending_plan",),
    "subscription": ("membership", "recurring_payment"),
    "note": ("journal", "memo"),
    "document": ("doc", "pdf"),
    "message": ("email", "dm", "sms"),
    "task": ("todo", "action_item"),
    "project": ("initiative", "program"),
    "goal": ("objective", "okr"),
    "event": ("meeting", "appointment", "calendar_event", "recurring_event"),
    "contact": ("person", "lead"),
    "exercise": ("workout", "training_session"),
    "measurement": ("biometric", "stat"),
    "meal": ("food_log", "nutrition"),
    "sleep_session": ("sleep", "rest"),
    "media_asset": ("file_asset", "file", "attachment", "asset"),
    "dataset": ("csv", "spreadsheet", "table", "dataset_file"),
    "dataset_row": ("table_row", "csv_row"),
    "contract": ("agreement", "legal_document"),
    "holding": ("portfolio_position", "asset_holding"),
    "income": ("earnings", "revenue"),
    "tax_event": ("capital_gain", "tax_transaction"),
    "crypto_transaction": ("blockchain_transaction", "crypto_tx"),
    "liability": ("debt", "obligation"),
    "flow": ("cash_flow", "money_flow"),
    "purchase": ("buy", "acquisition"),
    "transfer": ("asset_transfer", "account_transfer"),
    "wallet": ("financial_institution", "institution"),
    "tax_filing": ("tax_return", "filing"),
    "order": ("trade_order", "trading_order"),
    "fixed_cost": ("recurring_expense", "subscription_cost"),
    "property": ("real_estate", "asset_property"),
    "balance": ("account_balance", "balance_snapshot"),
    "travel_document": (),
    "identity_document": (),
}

_CATEGORIES: dict[str, tuple[str, ...]] = {
    "FinancialRecord": (
        *("invoice", "receipt", "transaction", "statement", "account", "budget", "subscription", "holding", "income"),
        *("tax_event", "crypto_transaction", "liability", "flow", "purchase", "transfer", "wallet", "tax_filing"),
        *("order", "fixed_cost", "property", "balance"),
    ),
    "LegalRecord": ("contract",),
    "TravelRecord": ("travel_document",),
    "IdentityRecord": ("identity_document",),
    "CommunicationRecord": ("message",),
    "ContactRecord": ("contact",),
    "PlanningRecord": ("task", "project", "goal", "event"),
    "HealthRecord": ("exercise", "measurement", "meal", "sleep_session"),
    "DataRecord": ("dataset", "dataset_row"),
    "MediaRecord": ("media_asset", "image"),
    "KnowledgeRecord": ("note", "document"),
}
_CATEGORY_OF = {kind: category for category, kinds in _CATEGORIES.items() for kind in kinds}
_MEANT = {word: kind for kind, words in ALIASES.items() for word in (*words, kind)}


def record_type(word: object) -> str:
    """The type that a word means, whatever its case; `document` for what means none."""
    return known_record_type(word) or UNKNOWN


def known_record_type(word: object) -> str | None:
    """The type that a word means; None for what means none."""
    return _MEANT.get(word.strip().lower()) if isinstance(word, str) else None


def category(kind: str) -> str:
    """What kind of record a type is."""
    return _CATEGORY_OF.get(kind, "DocumentRecord")


def type_of_empty(media_type: str, filename: str) -> str:
    """What a file without any text in it counts as, by its name and media type."""
    # What the bytes say counts; blanks and unknown ones say nothing, and are what they are called.
    mute = media_type == NOTHING_SAID or media_type.startswith("text/")
    said = f"{media_type} {filename.lower()}" if mute else media_type
    for sign, kind in (("pdf", "document"), ("csv", "dataset"), ("json", "document"), ("image/", "image")):
        if sign in said:
            return kind
    return "note" if media_type.startswith("text/") else "media_asset"
