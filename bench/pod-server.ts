import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificate, encodeFrame, writeKubeconfig } from '@taintmgr/sim-cluster';
import { podObject } from './cluster-objects.ts';

// Serves a cluster of any size without holding it: each pod is made when it is written. Lists and
// watches of pods, in JSON and in protobuf, over HTTP/2 and HTTP/1.1; a cluster without nodes.

type Request = Http2ServerRequest;
type Response = Http2ServerResponse;
type Event = (type: string, object: object) => string | Uint8Array;

/** A running server and the way to make something happen. */
export interface PodServer {
  readonly kubeconfig: string;
  /** Changes so many pods, one after the other; resolves when all watches were told. */
  touch(count: number): Promise<void>;
  close(): void;
}

const protobufType = 'application/vnd.kubernetes.protobuf';
const itemsPerChunk = 20;

/** What two managers own of a pod: about 7 kB of the 10 that a pod of a real cluster has. */
const managedFields = ['kube-controller-manager', 'kubelet'].map((manager) => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: Object.fromEntries(
    Array.from({ length: 30 }, (_, at) => [
      `f:${manager}-${at}`,
      { '.': {}, 'f:lastTransitionTime': {}, 'f:observedGeneration': {}, [`f:${at}`]: { '.': {} } },
    ]),
  ),
}));

/** Starts a server of so many pods. */
export async function startPodServer(pods: number): Promise<PodServer> {
  const certificate = createCertificate(Date.now());
  const watchers = new Set<(index: number, version: number) => Promise<void>>();
  const server = createSecureServer(
    { cert: certificate.certificate, key: certificate.key, allowHTTP1: true },
    (request, response) => void answer(request, response, pods, watchers),
  );
  const sockets = new Set<Socket>();
  server.on('secureConnection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-bench-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const url = `https://127.0.0.1:${port}`;
  writeKubeconfig(kubeconfig, { server: url, ca: certificate.ca, token: 'bench' });
  let version = pods;
  return {
    kubeconfig,
    touch: async (count) => {
      for (let at = 0; at < count; at++) {
        version += 1;
        for (const tell of watchers) await tell(at % pods, version);
      }
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      rmSync(directory, { recursive: true });
    },
  };
}

async function answer(
  request: Request,
  response: Response,
  pods: number,
  watchers: Set<(index: number, version: number) => Promise<void>>,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url, 'https://server');
  const isPods = pathname === '/api/v1/pods';
  const count = isPods ? pods : 0;
  if (searchParams.get('watch') !== 'true') {
    response.writeHead(200, { 'content-type': 'application/json' });
    await list(response, isPods ? 'PodList' : 'NodeList', count);
    return;
  }
  const inProtobuf = request.headers.accept?.includes(protobufType) ?? false;
  const event: Event = inProtobuf
    ? (type, object) => encodeFrame(type, { ...object })
    : (type, object) => `${JSON.stringify({ type, object })}\n`;
  const type = inProtobuf ? `${protobufType};stream=watch` : 'application/json';
  response.writeHead(200, { 'content-type': type });
  if (searchParams.has('sendInitialEvents')) {
    for (let at = 0; at < count; at++) await write(response, event('ADDED', pod(at, at + 1)));
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { resourceVersion: String(pods), annotations };
    const kind = isPods ? 'Pod' : 'Node';
    await write(response, event('BOOKMARK', { kind, apiVersion: 'v1', metadata }));
  }
  if (!isPods) return;
  const tell = (at: number, version: number): Promise<void> =>
    write(response, event('MODIFIED', pod(at, version)));
  watchers.add(tell);
  response.once('close', () => watchers.delete(tell));
}

/** All at once, as a client asks that names no limit. */
async function list(response: Response, kind: string, count: number): Promise<void> {
  const metadata = JSON.stringify({ resourceVersion: String(count + 1) });
  await write(response, `{"kind":"${kind}","apiVersion":"v1","metadata":${metadata},"items":[`);
  for (let from = 0; from < count; from += itemsPerChunk) {
    const items = Array.from({ length: Math.min(itemsPerChunk, count - from) }, (_, at) =>
      JSON.stringify(pod(from + at, from + at + 1)),
    );
    await write(response, `${from > 0 ? ',' : ''}${items.join(',')}`);
  }
  response.end(']}\n');
}

async function write(response: Response, chunk: string | Uint8Array): Promise<void> {
  if (response.stream?.destroyed || response.write(chunk)) return;
  await new Promise<void>((resolve) => {
    const proceed = (): void => {
      response.off('drain', proceed).off('close', proceed);
      resolve();
    };
    response.on('drain', proceed).on('close', proceed);
  });
}

function pod(index: number, version: number): object {
  const made = podObject(index) as { readonly metadata: object };
  const metadata = { ...made.metadata, resourceVersion: String(version), managedFields };
  return { ...made, metadata };
}
