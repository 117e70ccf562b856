import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fixture } from '../world/api-fixture.ts';
import { configuration, configurations, webhook } from './asked-webhooks.ts';

const name = 'evictions.example.com';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

describe('a ValidatingWebhookConfiguration', () => {
  it('is stored with the defaults of the real server', () => {
    const { client } = fixture();
    const rules = [
      { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] },
    ];
    const service = { namespace: 'ops', name: 'hook' };
    const given = webhook(name, { rules, clientConfig: { service, caBundle: 'Q0E=' } });
    const { status, body } = client.post(configurations, configuration('c', given));
    assert.deepEqual([status, body.metadata.generation], [201, 1]);
    assert.deepEqual(body.webhooks, [
      {
        name,
        clientConfig: { service: { ...service, port: 443 }, caBundle: 'Q0E=' },
        rules: [{ ...rules[0], scope: '*' }],
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        sideEffects: 'None',
        timeoutSeconds: 10,
        admissionReviewVersions: ['v1'],
      },
    ]);
  });

  it('counts changes of its webhooks, and shows how many it has', () => {
    const { client } = fixture();
    client.post(configurations, configuration('c', webhook(name)));
    const path = `${configurations}/c`;
    client.patch(path, { metadata: { labels: { a: 'b' } } });
    assert.equal(client.get(path).body.metadata.generation, 1);
    const webhooks = [webhook(name), webhook('two.example.com')];
    assert.equal(client.patch(path, { webhooks }).body.metadata.generation, 2);
    const { columnDefinitions, rows } = client.get(path, { headers: { accept: table } }).body;
    assert.deepEqual(
      columnDefinitions.map(({ name: column }: { readonly name: string }) => column),
      ['Name', 'Webhooks', 'Age'],
    );
    assert.deepEqual(rows[0].cells.slice(0, 2), ['c', 2]);
  });

  const url = (text: string): object => ({ clientConfig: { url: text } });
  const service = (more: object): object => ({
    clientConfig: { service: { namespace: 'ops', name: 'hook', ...more } },
  });
  const form = '; desired format: https://host[:port]/path';
  const wrong: readonly (readonly [object, string])[] = [
    [{ name: '' }, 'webhooks[0].name: Required value'],
    [
      { name: 'short.name' },
      'webhooks[0].name: Invalid value: "short.name": should be a domain with at least three segments separated by dots',
    ],
    [
      { sideEffects: undefined },
      'webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun',
    ],
    [
      { sideEffects: 'Some' },
      'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
    ],
    [
      { failurePolicy: 'Maybe' },
      'webhooks[0].failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"',
    ],
    [
      { timeoutSeconds: 31 },
      'webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
    ],
    [
      { admissionReviewVersions: [] },
      'webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1',
    ],
    [
      { admissionReviewVersions: ['v2'] },
      'webhooks[0].admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
    ],
    [
      { admissionReviewVersions: ['v1', 'v1'] },
      'webhooks[0].admissionReviewVersions[1]: Invalid value: "v1": duplicate version',
    ],
    [
      { clientConfig: {} },
      'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
    ],
    [
      url('http://hook.example.com'),
      `webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme${form}`,
    ],
    [
      url('https://'),
      `webhooks[0].clientConfig.url: Invalid value: "": host must be specified${form}`,
    ],
    [
      url('https://[/check'),
      `webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "https://[/check"${form}`,
    ],
    [
      url('https://me@hook.example.com'),
      'webhooks[0].clientConfig.url: Invalid value: "me": user information is not permitted in the URL',
    ],
    [
      url('https://hook.example.com/?a=b'),
      'webhooks[0].clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL',
    ],
    [
      url('https://hook.example.com/#a'),
      'webhooks[0].clientConfig.url: Invalid value: "a": fragments are not permitted in the URL',
    ],
    [
      service({ port: 70_000 }),
      'webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
    ],
    [
      service({ name: '' }),
      'webhooks[0].clientConfig.service.name: Required value: service name is required',
    ],
    [
      service({ path: 'deny' }),
      'webhooks[0].clientConfig.service.path: Invalid value: "deny": must start with a \'/\'',
    ],
    [
      service({ path: '/a//b' }),
      'webhooks[0].clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty',
    ],
    [
      {
        rules: [
          { operations: ['POST'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] },
        ],
      },
      'webhooks[0].rules[0].operations[0]: Unsupported value: "POST": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
    ],
    [
      { matchConditions: [{ name: 'x', expression: '1' }] },
      'webhooks[0].matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int',
    ],
  ];
  for (const [more, message] of wrong) {
    it(`is refused: ${message}`, () => {
      const { client } = fixture();
      const { status, body } = client.post(configurations, configuration('c', webhook(name, more)));
      const start = 'ValidatingWebhookConfiguration.admissionregistration.k8s.io "c" is invalid: ';
      assert.deepEqual([status, body.message], [422, start + message]);
    });
  }

  it('is refused where two webhooks have one name', () => {
    const { client } = fixture();
    const twice = configuration('c', webhook(name), webhook(name));
    const { body } = client.post(configurations, twice);
    assert.ok(body.message.endsWith(`webhooks[1].name: Duplicate value: "${name}"`), body.message);
  });
});
