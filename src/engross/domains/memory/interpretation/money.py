"""Amounts and currencies as people write them."""

from __future__ import annotations

import re

SYMBOLS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₺": "TRY", "₴": "UAH", "₪": "ILS"}
CURRENCIES = frozenset(
    {
        *("AED", "ARS", "AUD", "BDT", "BGN", "BHD", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CRC", "CZK"),
        *("DKK", "DOP", "EGP", "EUR", "GBP", "GEL", "GHS", "HKD", "HUF", "IDR", "ILS", "INR", "ISK", "JOD"),
        *("JPY", "KES", "KRW", "KWD", "KZT", "LKR", "MAD", "MXN", "MYR", "NGN", "NOK", "NZD", "OMR", "PEN"),
        *("PHP", "PKR", "PLN", "QAR", "RON", "RSD", "RUB", "SAR", "SEK", "SGD", "THB", "TND", "TRY", "TWD"),
        *("UAH", "UGX", "USD", "UYU", "UZS", "VND", "XAF", "XOF", "ZAR"),
    }
)
AMOUNT = rf"[-(]?\s?(?:[{''.join(SYMBOLS)}]|\b[A-Z]{{3}}\s)?\s?-?\d{{1,15}}(?:[,.' ]\d{{2,3}})*(?:[.,]\d{{1,4}})?"
CURRENCY = re.compile(rf"[{''.join(SYMBOLS)}]|\b(?:{'|'.join(sorted(CURRENCIES))})\b")

_DIGITS = re.compile(r"\d[\d,.' ]*")
_GROUPED = re.compile(r"\d{1,3}(?:([,.' ])\d{3})(?:\1\d{3})*")


def amount_of(text: str) -> int | float | None:
    """The number that an amount is; a whole one as an integer. None if it is none.

    The last of two different marks is the decimal one, and so is a single one that is not followed by three digits.
    """
    match = _DIGITS.search(text)
    if match is None:
        return None
    digits = match.group().rstrip(",.' ")
    number = float(_with_point(digits))
    if "-" in text[: match.start()] or text.lstrip().startswith("("):
        number = -number
    return int(number) if number.is_integer() else number


def currency_of(text: str) -> str | None:
    """The currency that a sign or a code stands for."""
    return SYMBOLS.get(text, text if text in CURRENCIES else None)


def _with_point(digits: str) -> str:
    if _GROUPED.fullmatch(digits):
        return re.sub(r"[,.' ]", "", digits)
    last = max(digits.rfind("."), digits.rfind(","))
    if last < 0:
        return re.sub(r"[' ]", "", digits)
    whole, rest = digits[:last], digits[last + 1 :]
    return f"{re.sub(r'[^0-9]', '', whole) or '0'}.{re.sub(r'[^0-9]', '', rest) or '0'}"
