// A name that every object inherits is given wherever a client may give a name: nothing may look it up in an
// object that does not have it as its own. `constructor`, `toString` and `__proto__` are such names; here it is
// one of our own, so that each look-up is seen, with its place.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Cluster } from '../../src/cluster.ts';
import { VirtualClock } from '../../src/kernel/clock.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { resources } from '../../src/resources/resources.ts';
import { start } from '../world/api-fixture.ts';
import { applyType, Client, jsonPatch, merge, strategic } from '../world/client.ts';

const name = 'inherited';
const places = new Set<string>();

function note(): void {
  const [place = 'elsewhere'] = (new Error().stack ?? '').match(/ at .*\/src\/.*/g) ?? [];
  // It knows __proto__.
  if (!place.startsWith(' at setOwn ')) places.add(place.replace(/file:.*?\/packages\//, ''));
}

/** As a member of Object.prototype that writes to `__proto__` would meet, too. */
function inherit(): void {
  Object.defineProperty(Object.prototype, name, {
    configurable: true,
    get() {
      note();
      return note;
    },
    set(this: object, value: unknown) {
      note();
      Object.defineProperty(this, name, {
        value,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    },
  });
}

/** An object with this name, which is its own. */
const own = (value: unknown): object => Object.fromEntries([[name, value]]);
const term = { key: name, operator: 'In', values: [name] };
const selector = { matchLabels: own(name), matchExpressions: [term] };

const podSpec = {
  nodeName: name,
  nodeSelector: own(name),
  serviceAccountName: name,
  priorityClassName: name,
  tolerations: [{ key: name, operator: 'Equal', value: name, effect: 'NoExecute' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [term], matchFields: [{ ...term, key: name }] }],
      },
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: selector, topologyKey: name },
      ],
    },
  },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: name, whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
  ],
  containers: [
    {
      name,
      image: name,
      env: [{ name, value: name }],
      ports: [{ name, containerPort: 1 }],
      volumeMounts: [{ name, mountPath: name }],
      resources: { requests: own('1'), limits: own('1') },
    },
  ],
  volumes: [{ name, emptyDir: {} }],
};

const template = { metadata: { labels: own(name), annotations: own(name) }, spec: podSpec };

/** One spec for all kinds: what a kind does not know is left out, or the reason of a refusal. */
const spec = {
  ...podSpec,
  selector,
  template,
  replicas: 1,
  taints: [{ key: name, value: name, effect: 'NoExecute' }],
  strategy: { type: name },
  updateStrategy: { type: name },
  minAvailable: name,
  hard: own('1'),
  scopes: [name],
  paramKind: { apiVersion: name, kind: name },
  matchConstraints: {
    resourceRules: [
      { apiGroups: [name], apiVersions: [name], operations: ['CREATE'], resources: [name] },
    ],
  },
  validations: [
    { expression: `object.${name} == '' || has(object.${name}) || '${name}' in object` },
  ],
  variables: [{ name, expression: `{'${name}': 1}['${name}']` }],
  validationActions: [name],
  podFailurePolicy: { rules: [{ action: name, onPodConditions: [{ type: name }] }] },
};

const members = {
  data: own(name),
  stringData: own(name),
  type: name,
  roleRef: { apiGroup: name, kind: name, name },
  subjects: [{ kind: name, apiGroup: name, name, namespace: name }],
  rules: [{ apiGroups: [name], resources: [name], verbs: [name], resourceNames: [name] }],
  involvedObject: { kind: name, name, namespace: name },
  regarding: { kind: name, name, namespace: name },
  parameters: own(name),
  webhooks: [{ name, rules: [{ operations: [name], apiGroups: [name] }], clientConfig: {} }],
  value: 1,
  status: {
    phase: name,
    capacity: own('1'),
    allocatable: own('1'),
    conditions: [{ type: name, status: 'True' }],
  },
};

const objectOf = (metadata: object = {}): object => ({
  metadata: {
    name,
    labels: own(name),
    annotations: own(name),
    finalizers: [`${name}.example.com/${name}`],
    ownerReferences: [{ apiVersion: name, kind: name, name, uid: name, controller: true }],
    managedFields: [
      {
        manager: name,
        operation: 'Apply',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: own({}),
      },
    ],
    ...metadata,
  },
  ...members,
  spec,
  ...own(name),
});

function definition(): object {
  const any = { type: 'object', additionalProperties: { type: 'string' } };
  const properties = {
    ...own({
      type: 'object',
      properties: own({ type: 'string', default: name }),
      required: [name],
    }),
    map: any,
    list: {
      type: 'array',
      items: { type: 'object', properties: own({ type: 'string' }), required: [name] },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': [name],
    },
    odd: { type: name, format: name },
  };
  const rules = [
    {
      rule: `has(self.${name}) && self.map.all(k, self.map[k] == '${name}')`,
      messageExpression: `self.map['${name}']`,
    },
    { rule: `'${name}' in self.map && self.map.${name} == '${name}' && size({'${name}': 1}) == 1` },
    { rule: `${name}(self) || self.${name}() || ${name}.x` },
  ];
  return {
    metadata: { name: 'inheriteds.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: {
        kind: 'Inherited',
        plural: 'inheriteds',
        singular: name,
        shortNames: [name],
        categories: [name],
      },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: { type: 'object', properties, 'x-kubernetes-validations': rules },
              },
            },
          },
          selectableFields: [{ jsonPath: `.spec.${name}.${name}` }],
          additionalPrinterColumns: [{ name, type: name, format: name, jsonPath: `.spec.${name}` }],
          subresources: {
            scale: { specReplicasPath: `.spec.${name}`, statusReplicasPath: `.status.${name}` },
          },
        },
      ],
    },
  };
}

/** The same definition as a server takes it. */
function taken(): object {
  const text = JSON.stringify(definition());
  const made = JSON.parse(text) as {
    spec: { versions: { [field: string]: KubeObject['spec'] }[] };
  };
  const [version = {}] = made.spec.versions;
  const schema = version.schema.openAPIV3Schema.properties.spec;
  delete schema.properties.odd;
  schema['x-kubernetes-validations'] = [
    { rule: `!has(self.${name}) || self.${name}.${name} != 'x'` },
  ];
  delete version.subresources;
  version.additionalPrinterColumns[0].type = 'string';
  delete version.additionalPrinterColumns[0].format;
  return made;
}

describe('a name that every object inherits', () => {
  const clock = new VirtualClock(start);
  const cluster = new Cluster({ clock, seed: 1 });
  const client = new Client(cluster.api);
  const said: number[] = [];
  const ask = (
    method: string,
    path: string,
    options: Parameters<Client['request']>[2] = {},
  ): KubeObject => {
    const { status, text, body } = client.request(method, path, options);
    said.push(status);
    assert.ok(
      status < 500 || !/is not a function|undefined|\[object/.test(text),
      `${method} ${path}: ${text}`,
    );
    return body;
  };
  before(() => {
    inherit();
    cluster.start();
  });
  after(() => {
    cluster.stop();
    Reflect.deleteProperty(Object.prototype, name);
  });

  function everyVerb(collection: string): void {
    const one = `${collection}/${name}`;
    const object = objectOf();
    const query = { fieldManager: name, force: 'true', fieldValidation: name };
    for (const body of [
      object,
      { ...object, metadata: { name, labels: own(name), annotations: own(name) } },
      { metadata: { name } },
    ]) {
      ask('POST', collection, { body });
      ask('POST', collection, { body, query: { fieldManager: name } });
    }
    ask('PUT', one, { body: object });
    for (const type of [merge, strategic, applyType]) {
      const headers = { 'content-type': type };
      ask('PATCH', one, {
        body: { ...object, metadata: { name } },
        headers,
        query: { fieldManager: name, force: 'true' },
      });
      ask('PATCH', one, {
        body: { metadata: { labels: own(name), ...own(name) }, spec, ...own(null) },
        headers,
        query,
      });
    }
    const body = [
      { op: 'add', path: `/${name}`, value: name },
      { op: 'test', path: `/metadata/labels/${name}`, value: name },
      { op: 'replace', path: `/spec/${name}/${name}`, value: name },
    ];
    for (const step of body)
      ask('PATCH', one, { body: [step], headers: { 'content-type': jsonPatch } });
    ask('PATCH', one, { body, headers: { 'content-type': name } });
    ask('GET', one);
    ask('GET', one, { headers: { accept: 'application/yaml' } });
    for (const accept of [
      `application/json;as=Table;v=v1;g=meta.k8s.io`,
      `application/json;as=${name};v=${name};g=${name}`,
      `application/json;${name}=${name}`,
      name,
    ]) {
      ask('GET', collection, { headers: { accept } });
    }
    for (const fieldSelector of [
      `${name}=x`,
      `metadata.${name}=x`,
      `spec.${name}=x`,
      `spec.${name}.${name}=x`,
      `metadata.name=${name}`,
    ]) {
      ask('GET', collection, { query: { fieldSelector } });
    }
    ask('GET', collection, {
      query: { labelSelector: `${name}=${name},${name} in (${name}),!${name}` },
    });
    ask('GET', collection, {
      query: { resourceVersionMatch: name, includeObject: name, [name]: name },
    });
    ask('GET', `${one}/${name}`);
    ask(name, one);
    ask('GET', `${one}/scale`);
    ask('POST', `${one}/eviction`, { body: { metadata: { name }, deleteOptions: own(name) } });
    ask('POST', `${one}/binding`, { body: { metadata: { name }, target: { kind: name, name } } });
    ask('PUT', `${one}/status`, { body: object });
    clock.advanceTo(clock.now() + 1000);
    ask('DELETE', one, { body: { propagationPolicy: name, preconditions: own(name) } });
    ask('DELETE', one, { body: { gracePeriodSeconds: 0 } });
  }

  it('is looked up in no object that does not have it', () => {
    ask('POST', '/api/v1/namespaces', { body: { metadata: { name, labels: own(name) } } });
    ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition() });
    ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: taken() });
    clock.advanceTo(clock.now() + 5000);
    for (const kind of [
      ...resources,
      { group: 'example.com', version: 'v1', plural: 'inheriteds', namespaced: true },
    ]) {
      const { group, version, plural, namespaced } = kind;
      const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
      for (const namespace of namespaced ? ['default', name] : ['']) {
        everyVerb(`${root}${namespace && `/namespaces/${namespace}`}/${plural}`);
      }
    }
    const custom = { [name]: { [name]: name }, map: own(name), list: [own(name)] };
    const collection = '/apis/example.com/v1/namespaces/default/inheriteds';
    ask('POST', collection, {
      body: { apiVersion: 'example.com/v1', kind: 'Inherited', metadata: { name }, spec: custom },
    });
    ask('GET', collection, { query: { fieldSelector: `spec.${name}.${name}=${name}` } });
    for (const path of [
      '',
      '/api',
      '/apis',
      '/openapi/v3',
      '/api/v1',
      '/apis/apps',
      '/apis/apps/v1',
      '/openapi/v3/apis',
      '/healthz',
      '/openapi/v2',
    ]) {
      ask('GET', `${path}/${name}`);
      ask('GET', `${path}/${name}/${name}`);
    }
    const headers = {
      'impersonate-user': name,
      'impersonate-group': name,
      [`impersonate-extra-${name}`]: name,
    };
    ask('GET', '/api/v1/pods', { headers });
    for (const review of [
      'SelfSubjectAccessReview',
      'SubjectAccessReview',
      'SelfSubjectRulesReview',
    ]) {
      const resourceAttributes = {
        verb: name,
        group: name,
        resource: name,
        namespace: name,
        subresource: name,
      };
      const body = {
        spec: {
          user: name,
          groups: [name],
          extra: own([name]),
          namespace: name,
          resourceAttributes,
        },
      };
      ask('POST', `/apis/authorization.k8s.io/v1/${review.toLowerCase()}s`, { body });
    }
    clock.advanceTo(clock.now() + 60_000);
    assert.ok(said.filter((status) => status < 300).length > 200, `${said.length} answers`);
    assert.deepEqual([...places], []);
  });
});
