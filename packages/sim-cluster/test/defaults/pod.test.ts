// The defaults of the parts of pods and of pod templates.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';

const container = { name: 'c', image: 'i' };
const counts = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
const versioned = { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } };
const bare = { fieldRef: { fieldPath: 'metadata.name' } };

const parts: readonly (readonly [string, unknown, unknown])[] = [
  ['ports', [{ containerPort: 80 }], [{ containerPort: 80, protocol: 'TCP' }]],
  [
    'readinessProbe',
    { httpGet: { port: 80 }, periodSeconds: 5, timeoutSeconds: 0 },
    { httpGet: { path: '/', port: 80, scheme: 'HTTP' }, ...counts, periodSeconds: 5 },
  ],
  ['livenessProbe', { tcpSocket: { port: 80 } }, { tcpSocket: { port: 80 }, ...counts }],
  ['startupProbe', { grpc: { port: 80 } }, { grpc: { port: 80, service: '' }, ...counts }],
  [
    'lifecycle',
    { preStop: { httpGet: { port: 80, path: '/stop' } } },
    { preStop: { httpGet: { port: 80, path: '/stop', scheme: 'HTTP' } } },
  ],
  ['env', [{ name: 'E', valueFrom: bare }], [{ name: 'E', valueFrom: versioned }]],
];

const volumes: readonly (readonly [object, object])[] = [
  [{ secret: { secretName: 's' } }, { secret: { secretName: 's', defaultMode: 420 } }],
  [{ configMap: { name: 'm', defaultMode: 256 } }, { configMap: { name: 'm', defaultMode: 256 } }],
  [
    { downwardAPI: { items: [{ path: 'p', ...bare }] } },
    { downwardAPI: { items: [{ path: 'p', ...versioned }], defaultMode: 420 } },
  ],
  [
    { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
    {
      projected: {
        sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }],
        defaultMode: 420,
      },
    },
  ],
  [{ hostPath: { path: '/p' } }, { hostPath: { path: '/p', type: '' } }],
  [{ emptyDir: {} }, { emptyDir: {} }],
];

describe('the defaults of a container', () => {
  for (const [member, given, expected] of parts) {
    it(`of ${member}`, () => {
      const spec = { containers: [{ ...container, [member]: given }] };
      const { body } = fixture().client.post(pods, podNamed('p', spec));
      assert.deepEqual(body.spec.containers[0][member], expected);
    });
  }
});

describe('the defaults of a volume', () => {
  for (const [given, expected] of volumes) {
    it(`of ${Object.keys(given)[0]}`, () => {
      const volume = { name: 'v', ...given };
      const { body } = fixture().client.post(pods, podNamed('p', { volumes: [volume] }));
      assert.deepEqual(body.spec.volumes, [{ name: 'v', ...expected }]);
    });
  }
});
