// A client that may reach a port and nothing else. Arguments: idle|pipelined|body|lines PORT
// SECONDS. Says on stdout, as JSON, how often it has connected.
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import tls from 'node:tls';

const [kind = '', port = '', seconds = ''] = process.argv.slice(2);
const idleConnections = 1000;
const pipeliningConnections = 50;
const pipelinedRequests = 900;
const endlessConnections = 300;
/** Differs from the address of other clients, as a pod's address does. */
const localAddress = '127.0.0.2';
/** The pause before a rejected peer connects again. */
const againMs = 50;

let connected = 0;
let isOver = false;
const sockets = new Set<Socket>();

function keepConnected(open: () => Socket): void {
  const socket = open();
  connected += 1;
  sockets.add(socket);
  socket.on('error', () => {});
  socket.resume();
  socket.once('close', () => {
    sockets.delete(socket);
    if (!isOver) setTimeout(() => !isOver && keepConnected(open), againMs);
  });
}

function openIdle(): Socket {
  return connect({ port: Number(port), host: '127.0.0.1', localAddress });
}

function openPipelining(): Socket {
  const where = { port: Number(port), host: '127.0.0.1', localAddress, rejectUnauthorized: false };
  const socket = tls.connect(where, () => {
    const requests = Array.from({ length: pipelinedRequests }, () => {
      const token = randomBytes(12).toString('hex');
      return `GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    });
    socket.write(requests.join(''));
  });
  return socket;
}

/** Sends one text, and then another again and again. */
function openEndless(first: string, again: string): Socket {
  const where = { port: Number(port), host: '127.0.0.1', localAddress, rejectUnauthorized: false };
  const socket = tls.connect(where, () => socket.write(first + again));
  return socket.on('drain', () => socket.write(again));
}

const post = 'POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n';
const kinds: Readonly<Record<string, readonly [count: number, open: () => Socket]>> = {
  idle: [idleConnections, openIdle],
  pipelined: [pipeliningConnections, openPipelining],
  body: [endlessConnections, () => openEndless(post, 'x'.repeat(50_000))],
  lines: [endlessConnections, () => openEndless('', '\r\n'.repeat(25_000))],
};
const [count, open] = kinds[kind] ?? [0, openIdle];
for (let index = 0; index < count; index += 1) keepConnected(open);
setTimeout(() => {
  isOver = true;
  for (const socket of sockets) socket.destroy();
  process.stdout.write(`${JSON.stringify({ connected })}\n`);
  process.exit();
}, Number(seconds) * 1000);
