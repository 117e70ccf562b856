// The client of Kubernetes' own tests: which headers, parameters and bodies it sends.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { encodeObject } from '@taintmgr/api-server';
import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Recorder } from './recorder.ts';

/** With `--kube-api-content-type=application/json`, or as it is by default. */
export type WireForm = 'json' | 'protobuf';

const protobufType = 'application/vnd.kubernetes.protobuf';
const jsonType = 'application/json';
export const strategicType = 'application/strategic-merge-patch+json';

type Query = Readonly<Record<string, string>>;

interface Sent {
  readonly query?: Query;
  readonly body?: KubeObject | object;
  readonly type?: string;
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** A stream of changes, as an informer of the tests reads it. */
export class Stream {
  readonly #events: (readonly [type: string, object: KubeObject])[] = [];
  readonly #response: IncomingMessage;
  #rest = '';
  #wake: () => void = () => {};

  constructor(response: IncomingMessage) {
    this.#response = response;
    response.setEncoding('utf8').on('data', (chunk: string) => this.#read(chunk));
  }

  get deleted(): readonly string[] {
    return this.#events.flatMap(([type, { metadata }]) =>
      type === 'DELETED' ? [metadata.name] : [],
    );
  }

  /** Waits until the stream has said this. */
  async heard(type: string, wanted: (object: KubeObject) => boolean): Promise<KubeObject> {
    for (;;) {
      const found = this.#events.find((event) => event[0] === type && wanted(event[1]));
      if (found) return found[1];
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  stop(): void {
    this.#response.destroy();
  }

  #read(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const { type, object }: { type: string; object: KubeObject } = JSON.parse(line);
      this.#events.push([type, object]);
    }
    this.#wake();
  }
}

/** Sends over HTTPS what the suite would, and notes it. */
export class SuiteClient {
  readonly #url: string;
  readonly #ca: string;
  readonly #form: WireForm;
  readonly #recorder: Recorder;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(url: string, ca: string, form: WireForm, recorder: Recorder) {
    this.#url = url;
    this.#ca = ca;
    this.#form = form;
    this.#recorder = recorder;
  }

  close(): void {
    this.#agent.destroy();
  }

  get(path: string, query: Query = {}): Promise<KubeObject> {
    const isCollection = /\/(namespaces|nodes|pods|replicasets|daemonsets|replicationcontrollers)$/;
    return this.#ask('GET', isCollection.test(path) ? 'list' : 'get', path, { query });
  }

  send(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, sent: Sent): Promise<KubeObject> {
    return this.#ask(method, verbs[method] ?? '', path, sent);
  }

  /** An informer: both timeouts stand in its query, and one of them nobody heeds. */
  async watch(path: string, selector: Query): Promise<Stream> {
    const query = {
      ...selector,
      allowWatchBookmarks: 'true',
      resourceVersionMatch: 'NotOlderThan',
      sendInitialEvents: 'true',
      timeout: '8m5s',
      timeoutSeconds: '485',
      watch: 'true',
    };
    const response = await this.#open('GET', path, { query });
    this.#recorder.note('watch', path, query, response.statusCode ?? 0);
    assert.equal(response.statusCode, 200);
    return new Stream(response);
  }

  async #ask(method: string, verb: string, path: string, sent: Sent): Promise<KubeObject> {
    const response = await this.#open(method, path, sent);
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    this.#recorder.note(verb, path, sent.query ?? {}, response.statusCode ?? 0);
    assert.ok((response.statusCode ?? 0) < 300, `${method} ${path}: ${text}`);
    return JSON.parse(text);
  }

  async #open(
    method: string,
    path: string,
    { query = {}, body, type }: Sent,
  ): Promise<IncomingMessage> {
    const isProtobuf = this.#form === 'protobuf';
    const form = isProtobuf ? protobufType : jsonType;
    const bytes = body === undefined ? null : this.#encoded(body, type);
    const headers = {
      accept: `${form}, */*`,
      authorization: 'Bearer T',
      'user-agent': 'e2e.test/v1.36.2 (linux/amd64) kubernetes/$Format',
      ...(bytes === null ? {} : { 'content-type': type ?? form, 'content-length': bytes.length }),
    };
    const search = new URLSearchParams(query).toString();
    const url = `${this.#url}${path}${search === '' ? '' : `?${search}`}`;
    const asked = request(url, { method, headers, ca: this.#ca, agent: this.#agent });
    const [response] = await once(asked.end(bytes), 'response');
    return response;
  }

  #encoded(body: object, type: string | undefined): Uint8Array {
    if (type !== undefined || this.#form === 'json') return Buffer.from(JSON.stringify(body));
    return encodeObject({ ...body });
  }
}
