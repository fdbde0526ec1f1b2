// Reads [{secret, headers, body}, ...] and prints for each whether the official library verifies it.
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const verifies = ({ secret, headers, body }) => {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
};
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(verifies)));
