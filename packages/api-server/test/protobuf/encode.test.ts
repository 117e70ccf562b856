import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeObject } from '../../src/protobuf/encode.ts';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';

const protobufType = 'application/vnd.kubernetes.protobuf';
const leases = '/apis/coordination.k8s.io/v1/leases';

interface Heard {
  status: number;
  type: string;
  readonly chunks: (string | Uint8Array)[];
}

/** What a GET is answered with: its content type, and its body as it came. */
function get(api: ReturnType<typeof fixture>['api'], path: string, accept: string): Heard {
  const heard: Heard = { status: 0, type: '', chunks: [] };
  const request = { method: 'GET', path, headers: { accept }, body: null };
  api.exchange(request, {
    head: (status, headers) => {
      Object.assign(heard, { status, type: headers['content-type'] });
    },
    data: (chunk) => heard.chunks.push(chunk),
    end: () => {},
    reset: () => {},
  });
  return heard;
}

function bytesOf({ chunks }: Heard): Buffer {
  return Buffer.concat(chunks.map((chunk) => (typeof chunk === 'string' ? assert.fail() : chunk)));
}

/** The fields of a message: its numbers, and the bytes or the number in each. */
function fieldsOf(bytes: Buffer): readonly (readonly [number, Buffer | bigint])[] {
  const fields: [number, Buffer | bigint][] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++] ?? assert.fail('a number goes beyond the end');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    if (tag % 8 === 0) fields.push([tag >> 3, varint()]);
    else {
      assert.equal(tag % 8, 2);
      const length = Number(varint());
      assert.ok(at + length <= bytes.length, 'a field goes beyond the end');
      fields.push([tag >> 3, bytes.subarray(at, at + length)]);
      at += length;
    }
  }
  return fields;
}

/** What stands in these fields, one inside the other; of several of one number the first. */
function at(bytes: Buffer, ...path: readonly number[]): Buffer | bigint | undefined {
  const [number, ...rest] = path;
  const value = fieldsOf(bytes).find(([field]) => field === number)?.[1];
  return rest.length > 0 && Buffer.isBuffer(value) ? at(value, ...rest) : value;
}

const text = (value: Buffer | bigint | undefined): string => String(value);

describe('answers in protobuf', () => {
  const setUp = () => {
    const { api, client } = fixture({ protobuf: true });
    client.post(pods, podNamed('pod-b', { nodeName: 'n', terminationGracePeriodSeconds: 0 }));
    return api;
  };

  it('begin as those of kube-apiserver 1.36.2 do', () => {
    const body = bytesOf(get(setUp(), `${pods}/pod-b`, protobufType));
    const shown = body
      .subarray(0, 50)
      .toString('latin1')
      .replaceAll(/[^\n -~]/g, '?');
    assert.match(shown, /^k8s\?\n\?\n\?v1\?\?Pod\?\?\?\n.{1,2}\n\?pod-b\?{4}default"\?\*\$/);
  });

  it('have the fields where they belong', () => {
    const body = bytesOf(get(setUp(), `${pods}?limit=1`, `${protobufType},application/json`));
    const envelope = body.subarray(4);
    assert.equal(text(at(envelope, 1, 2)), 'PodList');
    assert.match(text(at(envelope, 2, 1, 2)), /^\d+$/);
    assert.equal(text(at(envelope, 2, 2, 1, 1)), 'pod-b');
    assert.equal(text(at(envelope, 2, 2, 2, 10)), 'n');
    assert.equal(at(envelope, 2, 2, 2, 4), 0n);
    assert.equal(at(envelope, 2, 2, 2, 5), undefined);
    assert.equal(text(at(envelope, 2, 2, 2, 2, 2)), 'registry.k8s.io/pause:3.10');
    assert.equal(at(envelope, 2, 2, 1, 8, 1), 1767225600n);
  });

  it('stream events after their lengths', () => {
    const api = setUp();
    const heard = get(api, `${pods}?watch=true&allowWatchBookmarks=true`, protobufType);
    assert.equal(heard.type, `${protobufType};stream=watch`);
    api.delete('pods', 'default', 'pod-b', { gracePeriodSeconds: 0 });
    const told = heard.chunks.map((chunk) => {
      const frame = Buffer.from(chunk as Uint8Array);
      assert.equal(frame.readUInt32BE(0), frame.length - 4);
      const event = frame.subarray(4);
      const object = at(event, 2, 1) as Buffer;
      return `${at(event, 1)} ${at(object.subarray(4), 2, 1, 1)}`;
    });
    assert.deepEqual(told, ['ADDED pod-b', 'BOOKMARK ', 'MODIFIED pod-b', 'DELETED pod-b']);
  });

  it('tell refusals', () => {
    const heard = get(setUp(), `${pods}/nobody`, protobufType);
    assert.deepEqual([heard.status, heard.type], [404, protobufType]);
    const status = bytesOf(heard).subarray(4);
    assert.equal(text(at(status, 2, 4)), 'NotFound');
    assert.equal(at(status, 2, 6), 404n);
  });

  it('write times as fine as they are, and texts and numbers of any size', () => {
    const renewTime = '2026-01-01T00:00:09.654321Z';
    const name = 'ü'.repeat(5000);
    const spec = { renewTime, leaseTransitions: -5, leaseDurationSeconds: 2n ** 63n - 1n };
    const lease = Buffer.from(encodeObject({ kind: 'Lease', metadata: { name }, spec })).subarray(
      4,
    );
    assert.equal(text(at(lease, 2, 1, 1)), name);
    assert.equal(at(lease, 2, 2, 4, 1), 1767225609n);
    assert.equal(at(lease, 2, 2, 4, 2), 654321000n);
    assert.equal(BigInt.asIntN(64, at(lease, 2, 2, 5) as bigint), -5n);
    assert.equal(at(lease, 2, 2, 2), 2n ** 63n - 1n);
  });

  for (const [path, accept, answered] of [
    [pods, 'application/json', 'application/json'],
    [pods, `application/json,${protobufType}`, 'application/json'],
    [pods, `${protobufType};as=Table;v=v1;g=meta.k8s.io,application/json`, 'application/json'],
    [pods, `${protobufType};as=Bogus;v=v1;g=meta.k8s.io,application/json`, 'application/json'],
    [pods, `application/json;as=Bogus;v=v1;g=meta.k8s.io,${protobufType}`, protobufType],
    [leases, `${protobufType};stream=watch,application/json`, protobufType],
    ['/api/v1/namespaces', `${protobufType},application/json`, 'application/json'],
  ] as const) {
    it(`${path} asked for as ${accept} comes as ${answered}`, () => {
      assert.equal(get(setUp(), path, accept).type, answered);
    });
  }

  const asMetadata = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  const metadataClient = [
    `${protobufType};${asMetadata}`,
    `application/json;${asMetadata}`,
    'application/json',
  ].join(',');

  it('have no more than the metadata for clients that ask for that', () => {
    const body = bytesOf(get(setUp(), `${pods}/pod-b`, metadataClient)).subarray(4);
    assert.equal(text(at(body, 1, 1)), 'meta.k8s.io/v1');
    assert.equal(text(at(body, 1, 2)), 'PartialObjectMetadata');
    const object = at(body, 2) as Buffer;
    assert.deepEqual(
      fieldsOf(object).map(([field]) => field),
      [1],
    );
    assert.equal(text(at(object, 1, 1)), 'pod-b');
  });

  it('of lists and watches have it too', () => {
    const api = setUp();
    const asList = asMetadata.replace(';', 'List;');
    const list = bytesOf(get(api, pods, `${protobufType};${asList},application/json`)).subarray(4);
    assert.equal(text(at(list, 1, 2)), 'PartialObjectMetadataList');
    assert.equal(text(at(list, 2, 2, 1, 1)), 'pod-b');
    const { type, chunks } = get(api, `${pods}?watch=true`, metadataClient);
    assert.equal(type, `${protobufType};stream=watch`);
    const event = Buffer.from(chunks[0] as Uint8Array).subarray(4);
    const object = (at(event, 2, 1) as Buffer).subarray(4);
    assert.equal(text(at(object, 1, 2)), 'PartialObjectMetadata');
    assert.equal(text(at(object, 2, 1, 1)), 'pod-b');
  });

  it('that are refusals have no form: they come in the first that is asked for without one', () => {
    const heard = get(setUp(), `${pods}/nobody`, metadataClient);
    assert.deepEqual([heard.status, heard.type], [404, 'application/json']);
  });

  it('are given by every server to those who understand nothing else', () => {
    const { api } = fixture();
    const secrets = '/api/v1/namespaces/default/secrets';
    api.create('secrets', { metadata: { name: 's', namespace: 'default' }, data: { a: 'aGk=' } });
    for (const [path, kind] of [
      ['/api/v1/namespaces/default', 'Namespace'],
      [secrets, 'SecretList'],
      [`${secrets}/none`, 'Status'],
    ] as const) {
      const heard = get(api, path, protobufType);
      assert.deepEqual(
        [heard.type, text(at(bytesOf(heard).subarray(4), 1, 2))],
        [protobufType, kind],
      );
    }
    const refused = get(api, '/apis/storage.k8s.io/v1/csinodes', protobufType);
    assert.deepEqual([refused.status, refused.type], [406, 'application/json']);
  });

  it('are given by no server that was not told to', () => {
    const heard = get(fixture().api, pods, `${protobufType},application/json`);
    assert.equal(heard.type, 'application/json');
  });
});
