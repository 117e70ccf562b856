// Kubernetes' protobuf as a server writes it, for the kinds of our tests: a second statement of the
// field numbers, with fields that nobody reads among them.

type Field = readonly [number: number, type: Type];
type Type =
  | 'text'
  | 'texts'
  | 'integer'
  | 'boolean'
  | 'time'
  | 'textMap'
  | Table
  | readonly [Table];
/** Fields by their JSON names; those of '' stand in a message of their own, unlike in JSON. */
interface Table {
  readonly [name: string]: Field;
}

const ownerReference: Table = {
  kind: [1, 'text'],
  name: [3, 'text'],
  uid: [4, 'text'],
  apiVersion: [5, 'text'],
  controller: [6, 'boolean'],
  blockOwnerDeletion: [7, 'boolean'],
};

const managedFields: Table = { manager: [1, 'text'], operation: [2, 'text'], time: [4, 'time'] };

const metadata: Table = {
  name: [1, 'text'],
  generateName: [2, 'text'],
  namespace: [3, 'text'],
  selfLink: [4, 'text'],
  uid: [5, 'text'],
  resourceVersion: [6, 'text'],
  generation: [7, 'integer'],
  creationTimestamp: [8, 'time'],
  deletionTimestamp: [9, 'time'],
  deletionGracePeriodSeconds: [10, 'integer'],
  labels: [11, 'textMap'],
  annotations: [12, 'textMap'],
  ownerReferences: [13, [ownerReference]],
  finalizers: [14, 'texts'],
  managedFields: [17, [managedFields]],
};

const container: Table = { name: [1, 'text'], image: [2, 'text'], command: [3, 'texts'] };

const condition: Table = {
  type: [1, 'text'],
  status: [2, 'text'],
  lastProbeTime: [3, 'time'],
  lastTransitionTime: [4, 'time'],
  reason: [5, 'text'],
  message: [6, 'text'],
};

const toleration: Table = {
  key: [1, 'text'],
  operator: [2, 'text'],
  value: [3, 'text'],
  effect: [4, 'text'],
  tolerationSeconds: [5, 'integer'],
};

const kinds: Readonly<Record<string, Table>> = {
  Pod: {
    metadata: [1, metadata],
    spec: [
      2,
      {
        volumes: [
          1,
          [
            {
              name: [1, 'text'],
              '': [
                2,
                { hostPath: [1, { path: [1, 'text'] }], emptyDir: [2, { medium: [1, 'text'] }] },
              ],
            },
          ],
        ],
        containers: [2, [container]],
        restartPolicy: [3, 'text'],
        terminationGracePeriodSeconds: [4, 'integer'],
        nodeSelector: [7, 'textMap'],
        nodeName: [10, 'text'],
        hostNetwork: [11, 'boolean'],
        tolerations: [22, [toleration]],
        priority: [25, 'integer'],
      },
    ],
    status: [
      3,
      {
        phase: [1, 'text'],
        conditions: [2, [condition]],
        podIP: [6, 'text'],
        startTime: [7, 'time'],
      },
    ],
  },
  Node: {
    metadata: [1, metadata],
    spec: [
      2,
      {
        podCIDR: [1, 'text'],
        providerID: [3, 'text'],
        unschedulable: [4, 'boolean'],
        taints: [
          5,
          [
            {
              key: [1, 'text'],
              value: [2, 'text'],
              effect: [3, 'text'],
              timeAdded: [4, 'time'],
            },
          ],
        ],
      },
    ],
    status: [
      3,
      { phase: [3, 'text'], conditions: [4, [{ ...condition, lastHeartbeatTime: [3, 'time'] }]] },
    ],
  },
  Lease: {
    metadata: [1, metadata],
    spec: [
      2,
      {
        holderIdentity: [1, 'text'],
        leaseDurationSeconds: [2, 'integer'],
        acquireTime: [3, 'time'],
        renewTime: [4, 'time'],
        leaseTransitions: [5, 'integer'],
      },
    ],
  },
  DaemonSet: {
    metadata: [1, metadata],
    spec: [
      2,
      {
        selector: [
          1,
          {
            matchLabels: [1, 'textMap'],
            matchExpressions: [
              2,
              [{ key: [1, 'text'], operator: [2, 'text'], values: [3, 'texts'] }],
            ],
          },
        ],
        minReadySeconds: [4, 'integer'],
      },
    ],
  },
  Status: {
    metadata: [1, { resourceVersion: [2, 'text'] }],
    status: [2, 'text'],
    message: [3, 'text'],
    reason: [4, 'text'],
    details: [
      5,
      {
        name: [1, 'text'],
        group: [2, 'text'],
        kind: [3, 'text'],
        causes: [4, [{ reason: [1, 'text'], message: [2, 'text'], field: [3, 'text'] }]],
        retryAfterSeconds: [5, 'integer'],
      },
    ],
    code: [6, 'integer'],
  },
};

/** An object with its envelope, as in the body of an answer. */
export function encodeObject(object: {
  readonly kind: string;
  readonly apiVersion?: string;
}): Uint8Array {
  const { kind, apiVersion = 'v1' } = object;
  const table = kinds[kind];
  if (!table) throw new Error(`unknown kind ${kind}`);
  const typeMeta = [...text(1, apiVersion), ...text(2, kind)];
  const unknown = [...bytes(1, typeMeta), ...bytes(2, message(object, table)), ...text(3, '')];
  return Uint8Array.from([0x6b, 0x38, 0x73, 0x00, ...unknown]);
}

/** An event of a watch, after its length. */
export function encodeFrame(type: string, object: { readonly kind: string }): Uint8Array {
  const event = [...text(1, type), ...bytes(2, bytes(1, encodeObject(object)))];
  const frame = new Uint8Array(4 + event.length);
  new DataView(frame.buffer).setUint32(0, event.length);
  frame.set(event, 4);
  return frame;
}

function message(value: unknown, table: Table): number[] {
  const object = value as Readonly<Record<string, unknown>>;
  return Object.entries(table).flatMap(([name, [number, type]]) => {
    const member = name === '' ? object : object[name];
    return member === undefined || member === null
      ? absent(number, type)
      : field(number, type, member);
  });
}

/** Texts are written even where they are empty, as Go's types have no absent ones. */
function absent(number: number, type: Type): number[] {
  return type === 'text' ? text(number, '') : [];
}

function field(number: number, type: Type, value: unknown): number[] {
  switch (type) {
    case 'text':
      return text(number, String(value));
    case 'texts':
      return (value as readonly string[]).flatMap((one) => text(number, one));
    case 'integer':
      return [...tag(number, 0), ...varint(BigInt(value as number))];
    case 'boolean':
      return [...tag(number, 0), value === true ? 1 : 0];
    case 'time': {
      const millis = Date.parse(String(value));
      const seconds = Math.floor(millis / 1000);
      const nanos = [...tag(2, 0), ...varint(BigInt((millis - seconds * 1000) * 1_000_000))];
      return bytes(number, [...tag(1, 0), ...varint(BigInt(seconds)), ...nanos]);
    }
    case 'textMap':
      return Object.entries(value as object).flatMap(([key, one]) =>
        bytes(number, [...text(1, key), ...text(2, one)]),
      );
    default: {
      if (!isList(type)) return bytes(number, message(value, type));
      return (value as readonly unknown[]).flatMap((one) => bytes(number, message(one, type[0])));
    }
  }
}

function isList(type: Table | readonly [Table]): type is readonly [Table] {
  return Array.isArray(type);
}

function text(number: number, value: string): number[] {
  return bytes(number, [...new TextEncoder().encode(value)]);
}

function bytes(number: number, content: ArrayLike<number>): number[] {
  return [...tag(number, 2), ...varint(BigInt(content.length)), ...Array.from(content)];
}

function tag(number: number, wire: number): number[] {
  return varint(BigInt(number * 8 + wire));
}

function varint(value: bigint): number[] {
  const out: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest >= 0x80n) {
    out.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return [...out, Number(rest)];
}
