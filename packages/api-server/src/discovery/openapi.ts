import { createHash } from 'node:crypto';
import {
  isObject,
  type Json,
  type JsonObject,
  objectMeta,
  type Resource,
  type ServedResources,
  type Shape,
  type Struct,
  scalar,
} from '@taintmgr/sim-cluster/server';
import { latestRelease } from '../kinds/releases.ts';

// OpenAPI v2, for clients that ask for it beside v3, or do not know v3. The document names no kind
// here: clients then leave the validation to the server. Without the document they would refuse to
// continue.

const binaryType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const { gitVersion, major, minor } = latestRelease.version;
const info = { title: 'Kubernetes', version: gitVersion } as const;

interface Answered {
  readonly type: string;
  readonly body: string | Iterable<Uint8Array>;
}

/** The form that the Accept header asks for: client-go asks for protobuf. */
export function openApiV2(accept: string): Answered {
  if (/com\.github\.proto-openapi\.spec\.v2[@.]v1\.0\+protobuf/.test(accept)) {
    return { type: binaryType, body: [binary()] };
  }
  const document = { swagger: '2.0', info, paths: {}, definitions: {} };
  return { type: 'application/json', body: `${JSON.stringify(document)}\n` };
}

/** `Document` of gnostic: `swagger` is its field 1, `info` 2, with `title` 1 and `version` 2. */
function binary(): Uint8Array {
  const about = Buffer.concat([field(1, info.title), field(2, info.version)]);
  return Buffer.concat([field(1, '2.0'), field(2, about)]);
}

/** A field shorter than 128 bytes. */
function field(number: number, content: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}

/** The OpenAPI v3 documents, one for each group and version. */
interface Document {
  readonly path: string;
  readonly text: string;
  readonly hash: string;
}

const scalarSchemas: Readonly<Record<string, Json>> = {
  string: { type: 'string' },
  bytes: { type: 'string', format: 'byte' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  number: { type: 'number' },
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
  intOrString: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  quantity: { type: 'string' },
  any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  json: { 'x-kubernetes-preserve-unknown-fields': true },
};

function schemaOf(shape: Shape, around: readonly Shape[] = []): Json {
  // A schema that holds itself is cut.
  if (around.includes(shape)) return { type: 'object' };
  const inside = [...around, shape];
  if (typeof shape === 'string') return scalarSchemas[scalar(shape).name] ?? {};
  if (shape.type === 'map') {
    return { type: 'object', additionalProperties: schemaOf(shape.values, inside) };
  }
  if (shape.type === 'either') return schemaOf(shape.struct, inside);
  if (shape.type === 'list') {
    const merged = shape.mergeKey
      ? { 'x-kubernetes-patch-merge-key': shape.mergeKey, 'x-kubernetes-patch-strategy': 'merge' }
      : {};
    return { type: 'array', items: schemaOf(shape.items, inside), ...merged };
  }
  const properties = Object.entries(shape.fields).map(([name, field]) => [
    name,
    schemaOf(field, inside),
  ]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

const directory = (resource: Resource): string =>
  resource.group ? `apis/${resource.group}/${resource.version}` : `api/${resource.version}`;

/** The parameters kubectl looks for before it validates or dry-runs on the server. */
const writeParameters: readonly Json[] = ['dryRun', 'fieldManager', 'fieldValidation'].map(
  (name) => ({ name, in: 'query', schema: { type: 'string', uniqueItems: true } }),
);

function pathsOf(resource: Resource): JsonObject {
  const scope = resource.namespaced ? '/namespaces/{namespace}' : '';
  const collection = `/${directory(resource)}${scope}/${resource.plural}`;
  const { group, version, kind } = resource;
  const operation = (action: string): Json => ({
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group, version, kind },
    parameters: writeParameters,
    responses: {},
  });
  return {
    [collection]: { get: operation('list'), post: operation('post') },
    [`${collection}/{name}`]: {
      get: operation('get'),
      put: operation('put'),
      patch: operation('patch'),
      delete: operation('delete'),
    },
  };
}

function schemaName({ group, version, kind, custom }: Resource): string {
  if (custom) return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
  return `io.k8s.api.${group ? (group.split('.')[0] ?? '') : 'core'}.${version}.${kind}`;
}

const metaName = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** A custom kind, its list, and the schemas they refer to. */
function customSchemas(resource: Resource, openApi: JsonObject): JsonObject {
  const { group, version, kind, listKind } = resource;
  const name = schemaName(resource);
  const named = (kind: string): Json => [{ group, kind, version }];
  const text = { type: 'string' };
  return {
    [name]: { ...openApi, 'x-kubernetes-group-version-kind': named(kind) },
    [name.slice(0, name.lastIndexOf('.') + 1) + listKind]: {
      description: `${listKind} is a list of ${kind}`,
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: text,
        items: { type: 'array', items: { $ref: `#/components/schemas/${name}` } },
        kind: text,
        metadata: { allOf: [{ $ref: `#/components/schemas/${metaName}.ListMeta` }] },
      },
      'x-kubernetes-group-version-kind': named(listKind),
    },
    [`${metaName}.ListMeta`]: {
      type: 'object',
      properties: { continue: text, resourceVersion: text },
    },
    [`${metaName}.ObjectMeta`]: schemaOf(objectMeta),
  };
}

function schemasOf(resource: Resource): JsonObject {
  if (resource.custom) return customSchemas(resource, resource.custom.openApi);
  const { group, version, kind } = resource;
  const schema = schemaOf(resource.schema as Struct);
  const typed = isObject(schema) ? schema : {};
  return {
    [schemaName(resource)]: {
      ...typed,
      'x-kubernetes-group-version-kind': [{ group, version, kind }],
    },
  };
}

function buildDocument(path: string, resources: readonly Resource[]): Document {
  const text = JSON.stringify({
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: `v${major}.${minor}` },
    paths: Object.assign({}, ...resources.map(pathsOf)),
    components: { schemas: Object.assign({}, ...resources.map(schemasOf)) },
  });
  const hash = createHash('sha512').update(text).digest('hex').toUpperCase();
  return { path, text, hash };
}

interface Built {
  readonly revision: number;
  readonly documents: ReadonlyMap<string, Document>;
}

const built = new WeakMap<ServedResources, Built>();

/** All documents by path; made when first asked for, and again when something else is served. */
function documents(served: ServedResources): Built['documents'] {
  const known = built.get(served);
  if (known?.revision === served.revision) return known.documents;
  const paths = [...new Set(served.all.map(directory))];
  const documents = new Map(
    paths.map((path) => [
      path,
      buildDocument(
        path,
        served.all.filter((resource) => directory(resource) === path),
      ),
    ]),
  );
  built.set(served, { revision: served.revision, documents });
  return documents;
}

/** GET /openapi/v3. */
export function openApiRoot(served: ServedResources): object {
  const paths: JsonObject = {};
  for (const { path, hash } of documents(served).values()) {
    paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
  }
  return { paths };
}

/** GET /openapi/v3/PATH; null for a path without a document. */
export function openApiDocument(served: ServedResources, path: string): Document | null {
  return documents(served).get(path) ?? null;
}
