// A person connects an application, without JavaScript: a wrong password first, then the right one.
import { createServer } from "node:http";
import { launch } from "./chromium.mjs";

const [folder, authorize, email, password] = process.argv.slice(2);

const application = createServer(({ url }, answer) => {
  answer.setHeader("Content-Type", "text/html");
  answer.end(url === "/frame" ? `<iframe src="${asked.replaceAll("&", "&amp;")}"></iframe>` : "Welcome back.");
}).listen(0, "127.0.0.1");
await new Promise((listening) => application.once("listening", listening));
const callback = `http://127.0.0.1:${application.address().port}/callback`;
const asked = `${authorize}&redirect_uri=${encodeURIComponent(callback)}`;
const seen = { callback, complaints: [] };

const browser = await launch(folder);
try {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    viewport: { width: 390, height: 844 },
    colorScheme: "dark",
  });
  const page = await context.newPage();
  page.on("console", (message) => seen.complaints.push(message.text()));
  page.on("requestfailed", (request) => seen.complaints.push(request.url()));

  await page.goto(asked);
  seen.heading = await page.getByRole("heading", { level: 1 }).textContent();
  seen.width = await page.evaluate(() => document.documentElement.scrollWidth);
  seen.background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  seen.choices = await page.getByRole("checkbox").count();

  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill("not the password");
  await page.getByRole("button", { name: "Allow" }).click();
  seen.alert = (await page.getByRole("alert").textContent()).trim();
  seen.kept = await page.getByLabel("E-mail address").inputValue();

  await page.getByLabel("Send messages").uncheck();
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Allow" }).click();
  await page.waitForURL(`${callback}**`);
  seen.landed = page.url();
  seen.cookies = (await context.cookies()).map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]);

  await page.goto(asked);
  seen.again = await page.getByLabel("Password", { exact: true }).count();

  await page.goto(new URL("/frame", callback).href);
  seen.framed = await page.frames()[1].getByRole("heading").count();
} finally {
  await browser.close();
  application.close();
}
console.log(JSON.stringify(seen));
