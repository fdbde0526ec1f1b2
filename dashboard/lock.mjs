// Takes the registry's addresses out of the lock: npm's own option for that loses the packages of other platforms.
import { readFileSync, writeFileSync } from 'node:fs';

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
for (const each of Object.values(lock.packages)) delete each.resolved;
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
