// The API server of bench/reflector.ts, in a process of its own.
import { once } from 'node:events';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { createCertificate, encodeFrame } from '@taintmgr/sim-cluster';
import { podObject } from './cluster-objects.ts';
import { type ServedApi, servedAt } from './served-api.ts';

// Serves a cluster without nodes: its pods as a list or as a watch, in JSON or in protobuf, over
// HTTP/2 and HTTP/1.1. What it answers first is ready before it is asked, so that it is not the
// server that is measured.

type Response = Http2ServerResponse;

/** How pods are asked for at first: in a list, or in a watch of one of the formats. */
export type Form = 'list' | 'json' | 'protobuf';

/** A running server and the way to make something happen. */
export interface PodServer extends ServedApi {
  /** Changes so many pods, one after the other; resolves when all watches have them. */
  touch(count: number): Promise<void>;
}

type Send = (index: number, version: number) => Promise<void>;

const protobufType = 'application/vnd.kubernetes.protobuf';

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

/** Starts a server of so many pods, which will be asked for in this form. */
export async function startPodServer(pods: number, form: Form): Promise<PodServer> {
  const certificate = createCertificate(Date.now());
  const answers = new Answers(pods, form);
  const server = createSecureServer(
    { cert: certificate.certificate, key: certificate.key, allowHTTP1: true },
    (request, response) => void answers.give(request, response),
  );
  const sockets = new Set<Socket>();
  server.on('secureConnection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const served = servedAt(`https://127.0.0.1:${port}`, certificate.ca, async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { ...served, touch: (count) => answers.touch(count) };
}

class Answers {
  readonly #pods: number;
  /** The first event of each pod. */
  readonly #first: readonly Uint8Array[];
  readonly #watches = new Set<Send>();
  #version: number;

  constructor(pods: number, form: Form) {
    this.#pods = pods;
    this.#version = pods;
    this.#first = Array.from({ length: pods }, (_, at) => {
      if (form !== 'list') return event(form === 'protobuf', 'ADDED', pod(at, at + 1));
      return Buffer.from(`${at > 0 ? ',' : ''}${JSON.stringify(pod(at, at + 1))}`);
    });
  }

  async touch(count: number): Promise<void> {
    for (let at = 0; at < count; at++) {
      this.#version += 1;
      for (const send of this.#watches) await send(at % this.#pods, this.#version);
    }
  }

  async give({ url, headers }: Http2ServerRequest, response: Response): Promise<void> {
    const { pathname, searchParams } = new URL(url, 'https://server');
    const isPods = pathname === '/api/v1/pods';
    const first = isPods ? this.#first : [];
    if (searchParams.get('watch') !== 'true') {
      await this.#list(response, isPods ? 'PodList' : 'NodeList', first);
      return;
    }
    const inProtobuf = headers.accept?.includes(protobufType) ?? false;
    const type = inProtobuf ? `${protobufType};stream=watch` : 'application/json';
    response.writeHead(200, { 'content-type': type });
    if (searchParams.has('sendInitialEvents')) {
      for (const one of first) await write(response, one);
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      const metadata = { resourceVersion: String(this.#pods), annotations };
      const bookmark = { kind: isPods ? 'Pod' : 'Node', apiVersion: 'v1', metadata };
      await write(response, event(inProtobuf, 'BOOKMARK', bookmark));
    }
    if (!isPods) return;
    const send: Send = (at, version) =>
      write(response, event(inProtobuf, 'MODIFIED', pod(at, version)));
    this.#watches.add(send);
    response.once('close', () => this.#watches.delete(send));
  }

  /** All at once, as a client asks that names no limit. */
  async #list(response: Response, kind: string, items: readonly Uint8Array[]): Promise<void> {
    response.writeHead(200, { 'content-type': 'application/json' });
    const metadata = JSON.stringify({ resourceVersion: String(this.#pods) });
    await write(response, `{"kind":"${kind}","apiVersion":"v1","metadata":${metadata},"items":[`);
    for (const item of items) await write(response, item);
    response.end(']}\n');
  }
}

function event(inProtobuf: boolean, type: string, object: object): Uint8Array {
  if (inProtobuf) return encodeFrame(type, { ...object });
  return Buffer.from(`${JSON.stringify({ type, object })}\n`);
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
