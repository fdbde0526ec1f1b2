// An SMSC of the package `smpp`, driven by lines of JSON: commands on stdin, events on stdout.
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import smpp from "smpp";

const [port, password, certificate, key] = process.argv.slice(2);
const tell = (event, facts = {}) => process.stdout.write(JSON.stringify({ event, ...facts }) + "\n");
const statuses = []; // of the next submits: a status, "silent" for none, or "held" to accept at the command "release"
const held = [];
const ids = []; // of the next accepted submits
const begun = Date.now(); // so that no id comes again after a restart
let last = 0;
const nextId = () => `smsc-${begun}-${++last}`;
let pace = null; // of texts: the milliseconds before the response, and before the receipt
const receipts = []; // that no session has taken yet
let scripts = {}; // by destination: {status}, {stat, err}, {silent}, {before}, {times}, {late} or {reply}
const tried = {}; // how often each destination of a `refused` script was refused

let muted = []; // commands that are not answered
let refusal = null; // the status of the next binds, whatever their password
const bound = new Set();

function onBind(session, pdu) {
  const status = refusal ?? (pdu.password === password ? smpp.ESME_ROK : smpp.ESME_RINVPASWD);
  tell("bind", { system_id: pdu.system_id, system_type: pdu.system_type, version: pdu.interface_version, status });
  session.send(pdu.response({ command_status: status, system_id: "smsc" }));
  if (status === smpp.ESME_ROK) bound.add(session);
  giveReceipts();
}

// Give the receipts to a session; those that it does not take before it ends are given to the next one.
function giveReceipts() {
  const [session] = bound;
  if (!session) return;
  for (const receipt of receipts.splice(0)) {
    session.given.add(receipt);
    session.deliver_sm(receipt, (response) => {
      session.given.delete(receipt);
      if (response.command_status !== smpp.ESME_ROK) setTimeout(() => { receipts.push(receipt); giveReceipts(); }, 500);
    });
  }
}

function give(pdu, after) {
  setTimeout(() => { receipts.push(pdu); giveReceipts(); }, after);
}

function acceptAtPace(session, pdu) {
  const script = scripts[pdu.destination_addr] ?? {};
  const { status = 0, refused = 0, silent, stat = "DELIVRD", err = "000", times = 1, reply } = script;
  const turn = (tried[pdu.destination_addr] = (tried[pdu.destination_addr] ?? 0) + 1);
  if (silent) return;
  if (status && (!refused || turn <= refused)) return session.send(pdu.response({ command_status: status }));
  const id = nextId();
  const text = `id:${id} sub:001 dlvrd:001 submit date:2611230930 done date:2611230931 stat:${stat} err:${err} text:`;
  const back = { source_addr: pdu.destination_addr, destination_addr: pdu.source_addr };
  const { response = Math.random() * pace.response, receipt = pace.receipt } = script;
  setTimeout(() => session.send(pdu.response({ message_id: id })), response);
  for (let each = 0; each < times; each++) give({ ...back, esm_class: 4, short_message: text }, receipt);
  if (reply) give({ ...back, short_message: reply }, pace.receipt);
}

function onSubmit(session, pdu) {
  const status = statuses.shift() ?? smpp.ESME_ROK;
  tell("submit", {
    source: [pdu.source_addr_ton, pdu.source_addr_npi, pdu.source_addr],
    destination: [pdu.dest_addr_ton, pdu.dest_addr_npi, pdu.destination_addr],
    text: pdu.short_message.message ?? pdu.message_payload?.message,
    udh: pdu.short_message.udh?.map((element) => element.toString("hex")) ?? [],
    data_coding: pdu.data_coding,
    esm_class: pdu.esm_class,
    registered_delivery: pdu.registered_delivery,
  });
  if (status === "silent") return;
  if (pace) return acceptAtPace(session, pdu);
  const accept = () => session.send(pdu.response({ message_id: ids.shift() ?? nextId() }));
  if (status === "held") held.push(accept);
  else if (status === smpp.ESME_ROK) accept();
  else session.send(pdu.response({ command_status: status }));
}

function onSession(session) {
  tell("connect");
  session.given = new Set();
  session.on("bind_transceiver", (pdu) => muted.includes(pdu.command) || onBind(session, pdu));
  session.on("submit_sm", (pdu) => onSubmit(session, pdu));
  session.on("enquire_link", (pdu) => {
    tell("enquire_link");
    if (!muted.includes(pdu.command)) session.send(pdu.response());
  });
  session.on("unbind", (pdu) => { tell("unbind"); session.send(pdu.response()); session.close(); });
  session.on("generic_nack", (pdu) => tell("generic_nack", { status: pdu.command_status }));
  session.on("error", () => session.destroy());
  session.on("close", () => { bound.delete(session); receipts.push(...session.given); giveReceipts(); tell("close"); });
}

const commands = {
  reset: () => { muted = []; refusal = null; statuses.length = ids.length = held.length = 0; pace = null; scripts = {}; },
  script: ({ numbers }) => { scripts = numbers; },
  pace: ({ response, receipt }) => { pace = { response, receipt }; },
  refuse: ({ status }) => { refusal = status; },
  mute: ({ commands: next }) => { muted = next; },
  answer: ({ statuses: next }) => statuses.push(...next),
  release: () => held.splice(0).forEach((accept) => accept()),
  name: ({ ids: next }) => ids.push(...next),
  drop: () => bound.forEach((session) => session.destroy()),
  unbind: () => bound.forEach((session) => session.unbind(() => tell("unbound"))),
  enquire: () => bound.forEach((session) => session.enquire_link((pdu) => tell("enquired", { status: pdu.command_status }))),
  raw: ({ hex }) => bound.forEach((session) => session.socket.write(Buffer.from(hex, "hex"))),
  deliver: ({ pdu, tag }) => {
    if (pdu.hex !== undefined) {
      pdu.short_message = { message: Buffer.from(pdu.hex, "hex") };
      delete pdu.hex;
    }
    if (pdu.udh !== undefined) {
      pdu.short_message = { udh: Buffer.from(pdu.udh, "hex"), message: pdu.short_message.message ?? pdu.short_message };
      delete pdu.udh;
    }
    const [session] = bound;
    session.deliver_sm(pdu, (response) => tell("delivered", { tag, status: response.command_status }));
  },
};

const options = certificate ? { cert: readFileSync(certificate), key: readFileSync(key) } : {};
const server = smpp.createServer(options, onSession);
server.listen(Number(port), "127.0.0.1", () => tell("listening", { port: server.address().port }));
createInterface({ input: process.stdin }).on("line", (line) => {
  const { command, turn, ...facts } = JSON.parse(line);
  commands[command](facts);
  tell("done", { turn });
}).on("close", () => process.exit(0));
