// Serves the schema `peer` of a database by PostGraphile: node serve.mjs PORT DATABASE_URL
import { createServer } from "node:http";

import { makePgService } from "postgraphile/adaptors/pg";
import { grafserv } from "postgraphile/grafserv/node";
import { postgraphile } from "postgraphile";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";

const [port, connectionString] = process.argv.slice(2);
const server = createServer();
const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ connectionString, schemas: ["peer"] })],
  grafserv: { graphqlPath: "/graphql" },
});
await instance.createServ(grafserv).addTo(server);
server.listen(Number(port), "127.0.0.1");
