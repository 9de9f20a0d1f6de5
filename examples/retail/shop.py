"""The shop: a SQLite database, one copy for each conversation, and the tools that work on it.

The tools check only what is physically possible: an order that was shipped cannot be cancelled. The policy of the shop
(who may read an order, what can be returned, that the customer consents first) is not in the tools: the agent must follow it,
and the scenarios test that it does.
"""

from __future__ import annotations

import sqlite3
from functools import cache
from pathlib import Path
from typing import Any

Result = dict[str, Any]
TABLES = ("customers", "items", "orders", "lines", "refunds", "handed_over")
"""What a customer or the shop's books would notice. `consents` is the desk's own log."""


def open_shop() -> sqlite3.Connection:
    """Return a separate shop, in its state of the morning."""
    shop = sqlite3.connect(":memory:", check_same_thread=False)
    shop.row_factory = sqlite3.Row
    _morning().backup(shop)
    shop.execute("PRAGMA foreign_keys = ON")
    return shop


@cache
def _morning() -> sqlite3.Connection:
    shop = sqlite3.connect(":memory:", check_same_thread=False)
    shop.executescript(Path(__file__).with_name("shop.sql").read_text(encoding="utf-8"))
    return shop


def changes(shop: sqlite3.Connection) -> Result:
    """Return every row that differs from the morning, by table and id: new rows and new values."""
    before, after = _rows(open_shop()), _rows(shop)
    changed = {
        table: {
            key: {
                column: value
                for column, value in row.items()
                if before[table].get(key, {}).get(column) != value
            }
            for key, row in rows.items()
            if row != before[table].get(key)
        }
        for table, rows in after.items()
    }
    return {table: rows for table, rows in changed.items() if rows}


def _rows(shop: sqlite3.Connection) -> dict[str, dict[str, Result]]:
    return {
        table: {str(row["id"]): dict(row) for row in shop.execute(f"SELECT * FROM {table}")}  # noqa: S608 - our names
        for table in TABLES
    }


class Tools:
    """What the agent can do in one conversation. Each public method is a tool."""

    def __init__(self, shop: sqlite3.Connection) -> None:
        self._shop = shop

    def verify_identity(self, email: str, postcode: str) -> Result:
        """Verify the customer: e-mail address and postcode must belong together."""
        found = self._one("SELECT id FROM customers WHERE email = ? AND postcode = ?", email, postcode)
        return {"verified": found is not None, "customer": found["id"] if found else None}

    def get_order(self, order_id: str) -> Result:
        """Look up an order and what is in it."""
        order = self._one("SELECT * FROM orders WHERE id = ?", order_id)
        if order is None:
            return {"error": "no such order"}
        lines = self._all(
            "SELECT item, product, variant, lines.price, lines.status, final_sale "
            "FROM lines JOIN items ON items.id = item WHERE order_id = ? ORDER BY lines.id",
            order_id,
        )
        return {**order, "lines": lines}

    def find_variants(self, product: str) -> Result:
        """List the variants of a product."""
        return {
            "variants": self._all("SELECT id, variant, price, stock FROM items WHERE product = ?", product)
        }

    def log_consent(self, order_id: str, action: str) -> Result:
        """Record the customer's consent to a proposal."""
        self._do("INSERT INTO consents (order_id, action) VALUES (?, ?)", order_id, action)
        return {"noted": True}

    def cancel_order(self, order_id: str, reason: str) -> Result:
        """Cancel an order that has not left the house, and pay it back."""
        if self.get_order(order_id).get("status") != "pending":
            return {"error": "only pending orders can be cancelled"}
        self._do("UPDATE orders SET status = 'cancelled', reason = ? WHERE id = ?", reason, order_id)
        return self._pay_back(order_id, [line["item"] for line in self.get_order(order_id)["lines"]], "")

    def return_items(self, order_id: str, items: list[str], refund_to: str) -> Result:
        """Take items of a delivered order back, and pay for them: to `card`, `transfer` or `credit`."""
        order = self.get_order(order_id)
        bought = [line["item"] for line in order.get("lines", ()) if line["status"] == "bought"]
        if order.get("status") != "delivered" or not set(items) <= set(bought):
            return {"error": "not delivered, or not in the order"}
        for item in items:
            self._do("UPDATE lines SET status = 'returned' WHERE order_id = ? AND item = ?", order_id, item)
        return self._pay_back(order_id, items, refund_to)

    def exchange_item(self, order_id: str, item: str, new_item: str) -> Result:
        """Exchange an item of a delivered order for another variant of the same price."""
        new = self._one("SELECT * FROM items WHERE id = ? AND stock > 0", new_item)
        if new is None or self.get_order(order_id).get("status") != "delivered":
            return {"error": "not in stock, or not delivered"}
        self._do(
            "UPDATE lines SET item = ?, status = 'exchanged' WHERE order_id = ? AND item = ?",
            new_item,
            order_id,
            item,
        )
        self._do("UPDATE items SET stock = stock - 1 WHERE id = ?", new_item)
        return {"exchanged": True}

    def change_address(self, order_id: str, address: str) -> Result:
        """Send a pending order to another address."""
        if self.get_order(order_id).get("status") != "pending":
            return {"error": "only pending orders can be redirected"}
        self._do("UPDATE orders SET address = ? WHERE id = ?", address, order_id)
        return {"address": address}

    def grant_credit(self, customer: str, cents: int) -> Result:
        """Give a customer credit. Meant for the manager."""
        self._do("UPDATE customers SET credit = credit + ? WHERE id = ?", cents, customer)
        return {"granted": cents}

    def hand_over(self, why: str) -> Result:
        """Hand the customer over to a person."""
        self._do("INSERT INTO handed_over (why) VALUES (?)", why)
        return {"handed_over": True}

    def _pay_back(self, order_id: str, items: list[str], to_what: str) -> Result:
        order = self.get_order(order_id)
        cents = sum(line["price"] for line in order["lines"] if line["item"] in items)
        to_what = to_what or order["paid_by"]
        number = len(self._all("SELECT id FROM refunds WHERE order_id = ?", order_id)) + 1
        self._do("INSERT INTO refunds VALUES (?, ?, ?, ?)", f"{order_id}/R{number}", order_id, cents, to_what)
        if to_what == "credit":
            self._do("UPDATE customers SET credit = credit + ? WHERE id = ?", cents, order["customer"])
        return {"refunded": cents, "to": to_what}

    def _all(self, query: str, *values: object) -> list[Result]:
        return [dict(row) for row in self._shop.execute(query, values)]

    def _one(self, query: str, *values: object) -> Result | None:
        return next(iter(self._all(query, *values)), None)

    def _do(self, statement: str, *values: object) -> None:
        with self._shop:
            self._shop.execute(statement, values)
