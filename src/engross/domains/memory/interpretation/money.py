"""Amounts and currencies as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from math import isfinite

Number = int | float

SYMBOLS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₺": "TRY", "₴": "UAH", "₪": "ILS"}
DOLLARS = {
    **{"US$": "USD", "CA$": "CAD", "C$": "CAD", "AU$": "AUD", "A$": "AUD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD"},
    **{"R$": "BRL", "MX$": "MXN", "NT$": "TWD"},
}
CURRENCIES = frozenset(
    {
        *("AED", "ARS", "AUD", "BDT", "BGN", "BHD", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CRC", "CZK"),
        *("DKK", "DOP", "EGP", "EUR", "GBP", "GEL", "GHS", "HKD", "HUF", "IDR", "ILS", "INR", "ISK", "JOD"),
        *("JPY", "KES", "KRW", "KWD", "KZT", "LKR", "MAD", "MXN", "MYR", "NGN", "NOK", "NZD", "OMR", "PEN"),
        *("PHP", "PKR", "PLN", "QAR", "RON", "RSD", "RUB", "SAR", "SEK", "SGD", "THB", "TND", "TRY", "TWD"),
        *("UAH", "UGX", "USD", "UYU", "UZS", "VND", "XAF", "XOF", "ZAR"),
    }
)
CURRENCY = re.compile(rf"\b[A-Z]{{1,2}}\$|[{''.join(SYMBOLS)}]|\b(?:{'|'.join(sorted(CURRENCIES))})\b")

_BLANKS = " \u00a0\u202f"
_FORMS = (
    (r"[1-9]\d{0,2}(?:,\d{3}){1,12}(?:\.\d{1,40})?", ","),
    (r"[1-9]\d{0,2}(?:\.\d{3}){1,12}(?:,\d{1,40})?", "."),
    (rf"[1-9]\d{{0,2}}(?:['\u2019{_BLANKS}]\d{{3}}){{1,12}}(?:[.,]\d{{1,40}})?", f"'\u2019{_BLANKS}"),
    (r"[1-9]\d?(?:,\d{2}){1,12},\d{3}(?:\.\d{1,40})?", ","),
    (r"(?:\d{1,40}(?:[.,]\d{1,40})?|[.,]\d{1,40})(?:E[+\-]?\d{1,4})?", ""),
)
"""How digits are written, and what stands between groups of them."""
_DIGITS = f"(?:{'|'.join(form for form, _ in _FORMS)})"
_UNIT = (
    rf"(?:[A-Z]{{0,2}}\$|[{''.join(SYMBOLS)}]"
    rf"|(?<![A-Za-z])(?:{'|'.join(sorted(CURRENCIES))}|Rs\.?|Fr\.|kr\.?|zł|Kč)(?![A-Za-z]))"
)
_MINUS = "-\u2212"
_ENDS = r"(?!\w|[-\u2212+.,'\u2019:/]\w|%)"
_BARE = rf"(?:{_UNIT}[{_BLANKS}]?)?[{_MINUS}+]?{_DIGITS}"
_CLAIM = rf"[{_MINUS}+]?[{_BLANKS}]?(?:{_UNIT}[{_BLANKS}]?)?\d\S{{0,40}}"
_SIGNED = rf"[{_MINUS}+]?[{_BLANKS}]?{_BARE}(?:[{_MINUS}](?![{_MINUS}]))?(?:[{_BLANKS}]?{_UNIT})?"
AMOUNT = rf"(?:\({_BARE}\)|{_SIGNED}){_ENDS}|{_CLAIM}"
"""What claims to be an amount. It is only a look: `12/3` passes here, and is refused by `amount_of`."""
NUMBER = rf"[{_MINUS}+]?{_DIGITS}(?=%|{_ENDS})|{_CLAIM}"
"""The same for a number without a currency; a share may be given in percent."""

_COMPILED = tuple((re.compile(form, re.IGNORECASE), between) for form, between in _FORMS)
_SIGNS = (
    (re.compile(r"\((?P<rest>.+)\)"), "-"),
    (re.compile(rf"[{_MINUS}]\s?(?P<rest>.+)"), "-"),
    (re.compile(rf"(?P<rest>.*\d)[{_MINUS}]"), "-"),
    (re.compile(r"\+\s?(?P<rest>.+)"), ""),
)
_UNIT_BEFORE = re.compile(rf"\A{_UNIT}\s?", re.IGNORECASE)
_UNIT_AFTER = re.compile(rf"\s?{_UNIT}\Z", re.IGNORECASE)
_NO_DECIMALS = re.compile(r"(?<=\d)[.,][-\u2013\u2014]{0,2}\Z")
_AMBIGUOUS = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_LONGEST = 100
_BEYOND = 2**63


def amount_of(text: str, decimal: str | None = None) -> Number | None:
    """The number that an amount is, a whole one as an integer. None if it is none, or none that can be kept exactly.

    A minus may stand before or behind, and brackets are one. Of two different marks the last is the decimal one, and so
    is a single one that is not followed by three digits: `1.234` is over a thousand, unless `decimal` is the point.
    """
    sign, digits = _taken_apart(text)
    for form, between in _COMPILED:
        if between != decimal and form.fullmatch(digits):
            return number_of(sign + _with_point(digits, between))
    return None


def number_of(text: str) -> Number | None:
    """A number as programs write it; None for what cannot be kept without changing it."""
    if len(text) > _LONGEST:
        return None
    said = Decimal(text)
    if abs(said) < _BEYOND and said == said.to_integral_value():
        return int(said)
    number = float(said)
    return number if isfinite(number) and Decimal(repr(number)) == said else None


def decimal_mark(amounts: Iterable[str]) -> str | None:
    """The mark before the decimals, where some amounts of a table show it and none shows another."""
    marks = {mark for amount in amounts if (mark := _mark_shown(amount)) is not None}
    return marks.pop() if len(marks) == 1 else None


def currency_of(text: str) -> str | None:
    """The currency that a sign or a code stands for."""
    return SYMBOLS.get(text) or DOLLARS.get(text) or (text if text in CURRENCIES else None)


def currency_in(text: str) -> str | None:
    """The currency that an amount is in, if it says so."""
    match = CURRENCY.search(text)
    return currency_of(match.group()) if match else None


def _taken_apart(text: str) -> tuple[str, str]:
    """The sign of an amount and its digits, without a currency; what is left over of anything else is no digits."""
    said = _without_unit(text.strip()) if len(text) <= _LONGEST else ""
    for form, sign in _SIGNS:
        match = form.fullmatch(said)
        if match is not None:
            return sign, _NO_DECIMALS.sub("", _without_unit(match["rest"]))
    return "", _NO_DECIMALS.sub("", said)


def _without_unit(text: str) -> str:
    bare = _UNIT_BEFORE.sub("", text)
    return bare if bare != text else _UNIT_AFTER.sub("", text)


def _with_point(digits: str, between: str) -> str:
    return "".join(one for one in digits if one not in between).replace(",", ".")


def _mark_shown(amount: str) -> str | None:
    _, digits = _taken_apart(amount)
    if _AMBIGUOUS.fullmatch(digits):
        return None
    for form, between in _COMPILED:
        if form.fullmatch(digits):
            if between in (",", "."):
                return "." if between == "," else ","
            return next((one for one in digits if one in ".,"), None)
    return None
