// What is refused of pods, in the words of the real server.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';

const only = (fields: object): object => ({ containers: [{ name: 'c', image: 'i', ...fields }] });
const at = 'spec.containers[0]';
const rangeOf = (field: string, port: number): string =>
  `${at}.ports[0].${field}: Invalid value: ${port}: must be between 1 and 65535, inclusive`;

const refused: readonly (readonly [string, object, readonly string[]])[] = [
  [
    'a port that is none',
    only({ ports: [{ containerPort: 99999 }] }),
    [rangeOf('containerPort', 99999)],
  ],
  [
    'a negative port',
    only({ ports: [{ containerPort: 1, hostPort: -1 }] }),
    [rangeOf('hostPort', -1)],
  ],
  ['no port', only({ ports: [{ name: 'web' }] }), [`${at}.ports[0].containerPort: Required value`]],
  [
    'two ports of one name',
    only({
      ports: [
        { name: 'web', containerPort: 1 },
        { name: 'web', containerPort: 2 },
      ],
    }),
    [`${at}.ports[1].name: Duplicate value: "web"`],
  ],
  [
    'an unknown protocol',
    only({ ports: [{ containerPort: 1, protocol: 'tcp' }] }),
    [`${at}.ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"`],
  ],
  [
    'a mount of no volume',
    only({ volumeMounts: [{ name: 'nope', mountPath: '/x' }] }),
    [`${at}.volumeMounts[0].name: Not found: "nope"`],
  ],
  [
    'two mounts at one place',
    {
      ...only({
        volumeMounts: [
          { name: 'v', mountPath: '/x' },
          { name: 'w', mountPath: '/x' },
        ],
      }),
      volumes: [{ name: 'v' }, { name: 'w' }],
    },
    [`${at}.volumeMounts[1].mountPath: Invalid value: "/x": must be unique`],
  ],
  [
    'a request beyond its limit',
    only({
      resources: { requests: { cpu: 2, memory: '1Mi' }, limits: { cpu: '1000m', memory: '1Mi' } },
    }),
    [`${at}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`],
  ],
  [
    'two volumes of one name',
    { volumes: [{ name: 'v', emptyDir: {} }, { name: 'v' }] },
    ['spec.volumes[1].name: Duplicate value: "v"'],
  ],
  [
    'a volume without a name',
    { volumes: [{ emptyDir: {} }] },
    ['spec.volumes[0].name: Required value'],
  ],
  [
    'an unknown policy of names',
    { dnsPolicy: 'Y' },
    [
      'spec.dnsPolicy: Unsupported value: "Y": supported values: "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"',
    ],
  ],
];

describe('a new pod is refused for', () => {
  for (const [what, spec, said] of refused) {
    it(what, () => {
      const { status, body } = fixture().client.post(pods, podNamed('p', spec));
      const causes: readonly { readonly field: string; readonly message: string }[] =
        body.details?.causes ?? [];
      const texts = causes.map(({ field, message }) => `${field}: ${message}`);
      assert.deepEqual([status, ...texts], [422, ...said]);
    });
  }
});

it('the status of a pod is written whatever was stored as its spec', () => {
  const { api, client } = fixture();
  const spec = only({ volumeMounts: [{ name: 'nope', mountPath: '/x' }] });
  const metadata = { name: 'p', namespace: 'default' };
  api.load([{ apiVersion: 'v1', kind: 'Pod', metadata, spec }]);
  const { body } = client.get(`${pods}/p`);
  const put = client.put(`${pods}/p/status`, { ...body, status: { phase: 'Running' } });
  assert.equal(put.status, 200, put.text);
});
