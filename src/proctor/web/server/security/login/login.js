"use strict";
// The token stands behind the # of the address: that part is never sent, and is in no log.
const said = document.getElementById("said");
const wanted = () => (location.pathname === "/login" ? "/" : location.pathname + location.search);

async function logIn(token) {
  const answer = await fetch("/login", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (answer.ok) location.replace(wanted());
  else said.textContent = (await answer.json()).detail;
}

async function begin() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  history.replaceState(null, "", location.pathname + location.search);
  if (token) return logIn(token);
  // A link from another site comes without the cookie; this page's own request has it.
  const known = await fetch("/api/about");
  if (known.ok) location.replace(wanted());
}

document.getElementById("form").addEventListener("submit", (event) => {
  event.preventDefault();
  logIn(document.getElementById("token").value.trim());
});
addEventListener("hashchange", begin); // a link with the token, opened where this page is open already
begin();
