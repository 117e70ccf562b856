import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what systems hand out to whoever asks for any port: from 32768 on Linux, 49152 elsewhere. */
const first = 10_000;
const last = 32_000;
/** Each process has so many for itself: test files run beside each other. */
const each = 128;
let taken = 0;

/**
 * A port of this machine that nobody listens on, nor will before we do: those who ask for any get another,
 * and other processes of tests look elsewhere.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < each; tries++) {
    const port = first + ((process.pid * each + (taken++ % each)) % (last - first));
    if (await isFree(port)) return port;
  }
  throw new Error(`all ${each} ports of this process are taken`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
