// The errors of the API as the real server words them.
import { entry } from './json.ts';
import type { Json, KubeObject } from './kube-object.ts';

/** An entry of `details.causes`. */
export interface Cause {
  /** A word for programs, such as `FieldValueInvalid`. */
  readonly reason?: string;
  /** Text for people. */
  readonly message: string;
  /** The path of the field, such as `spec.containers[0].name`. */
  readonly field?: string;
}

/** The details of a Status. */
export interface StatusDetails {
  /** The name of the object. */
  readonly name?: string;
  /** The API group of the object. */
  readonly group?: string;
  /** The kind or the resource of the object. */
  readonly kind?: string;
  /** The UID of the object. */
  readonly uid?: string;
  /** The causes of the failure, field by field. */
  readonly causes?: readonly Cause[];
  /** Seconds after which the request may be sent again. */
  readonly retryAfterSeconds?: number;
}

/** A v1 Status as the API server answers it. */
export interface Status {
  readonly kind: 'Status';
  /** The version of the kind Status. */
  readonly apiVersion: 'v1';
  /** Empty, but in lists. */
  readonly metadata: { readonly [key: string]: Json };
  /** `Failure` for a refusal. */
  readonly status: 'Success' | 'Failure';
  /** Text for people. */
  readonly message?: string;
  /** A word for programs, such as `NotFound`. */
  readonly reason?: string;
  /** The object and the causes. */
  readonly details?: StatusDetails;
  /** The HTTP status. */
  readonly code?: number;
}

/** Names a resource in error texts: `pods`, `leases.coordination.k8s.io`. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

/** Names a kind in error texts: `Pod`, `Lease.coordination.k8s.io`. */
export interface KindName {
  readonly group: string;
  readonly kind: string;
}

/** A refusal of the API server: everything that is answered with a v1 Status Failure. */
export class ApiError extends Error {
  /** The Status that a client receives. */
  readonly status: Status;
  /** Warnings gathered before the refusal; they are sent with it. */
  warnings: readonly string[] = [];

  constructor(code: number, reason: string | null, message: string, details?: StatusDetails) {
    super(message);
    this.name = 'ApiError';
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason === null ? {} : { reason }),
      ...(details ? { details } : {}),
      code,
    };
  }

  /** The HTTP status. */
  get code(): number {
    return this.status.code ?? 500;
  }
}

/** A refusal of authorisation, as opposed to one of admission. */
export class AccessError extends ApiError {}

const qualified = (name: string, group: string): string => (group ? `${name}.${group}` : name);

/** A refusal that names one object. */
function refusal(
  code: number,
  reason: string,
  { group, plural }: ResourceName,
  name: string,
  what: (subject: string) => string,
): ApiError {
  const subject = `${qualified(plural, group)} "${name}"`;
  return new ApiError(code, reason, what(subject), details(name, group, plural));
}

function details(name: string, group: string, kind: string): StatusDetails {
  return { ...(name ? { name } : {}), ...(group ? { group } : {}), ...(kind ? { kind } : {}) };
}

/** 404 for one object; `details.name` says which. */
export function notFound(resource: ResourceName, name: string): ApiError {
  return refusal(404, 'NotFound', resource, name, (subject) => `${subject} not found`);
}

/** 404 for a path in a known group that leads nowhere. */
export function unknownPath(): ApiError {
  return new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});
}

/** 405. */
export function methodNotAllowed(): ApiError {
  return new ApiError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );
}

/** 400. */
export function badRequest(message: string): ApiError {
  return new ApiError(400, 'BadRequest', message);
}

/** 401. */
export function unauthorized(): ApiError {
  return new ApiError(401, 'Unauthorized', 'Unauthorized');
}

/** 403 of admission for one object: `pods "x" is forbidden: MESSAGE`. */
export function forbidden(
  resource: ResourceName,
  name: string,
  message: string,
  causes?: readonly Cause[],
): ApiError {
  const subject = qualified(resource.plural, resource.group) + (name ? ` "${name}"` : '');
  return new ApiError(403, 'Forbidden', `${subject} is forbidden: ${message}`, {
    ...details(name, resource.group, resource.plural),
    ...(causes ? { causes } : {}),
  });
}

const denialCodes: Readonly<Record<string, number>> = {
  Forbidden: 403,
  RequestEntityTooLarge: 413,
};

/** The refusal of an admission policy, with the code that goes with its reason: 403, 413 or 422. */
export function policyDenial(
  resource: ResourceName,
  name: string,
  reason: string,
  message: string,
): ApiError {
  // A collection has no name to report.
  const { status } = forbidden(resource, name || 'Unknown', message, [{ message }]);
  return new ApiError(
    entry(denialCodes, reason) ?? 422,
    reason,
    status.message ?? '',
    status.details,
  );
}

/** 403 of authorisation for a resource; `name` is '' for a collection. */
export function accessDenied(resource: ResourceName, name: string, message: string): AccessError {
  const { message: text, status } = forbidden(resource, name, message);
  return new AccessError(403, 'Forbidden', text, status.details);
}

/** 403 of authorisation for a path without a resource. */
export function pathDenied(message: string): AccessError {
  return new AccessError(403, 'Forbidden', `forbidden: ${message}`, {});
}

/** 409 for a name that an object has. */
export function alreadyExists(resource: ResourceName, { metadata }: KubeObject): ApiError {
  const isGoing = metadata.deletionTimestamp !== undefined;
  const text = (subject: string) =>
    `${isGoing ? 'object is being deleted: ' : ''}${subject} already exists`;
  return refusal(409, 'AlreadyExists', resource, metadata.name, text);
}

const modifiedMessage =
  'the object has been modified; please apply your changes to the latest version and try again';

/** 409 of optimistic locking, or of a failed precondition when `message` says so. */
export function conflict(
  resource: ResourceName,
  name: string,
  message: string = modifiedMessage,
): ApiError {
  const text = (subject: string) => `Operation cannot be fulfilled on ${subject}: ${message}`;
  return refusal(409, 'Conflict', resource, name, text);
}

/** 409 of server-side apply: one cause per field and manager. */
export function applyConflict(causes: readonly Cause[]): ApiError {
  const [first] = causes;
  if (causes.length === 1 && first) {
    const text = `Apply failed with 1 conflict: ${first.message}: ${first.field}`;
    return new ApiError(409, 'Conflict', text, { causes });
  }
  const managers = [...new Set(causes.map((cause) => cause.message))].sort();
  const lines = managers.flatMap((message) => [
    `${message.replace('conflict', 'conflicts')}:`,
    ...causes.filter((cause) => cause.message === message).map(({ field }) => `- ${field}`),
  ]);
  const text = `Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`;
  return new ApiError(409, 'Conflict', text, { causes });
}

/** 422 with one cause per error; the message lists each text once. */
export function invalid(kind: KindName, name: string, causes: readonly Cause[]): ApiError {
  const texts = [...new Set(causes.map((cause) => `${cause.field}: ${cause.message}`))];
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new ApiError(
    422,
    'Invalid',
    `${qualified(kind.kind, kind.group)} "${name}" is invalid: ${list}`,
    { ...details(name, kind.group, kind.kind), causes },
  );
}

/** The bare 422 of a JSON patch that does not apply. */
export function patchDoesNotApply(): ApiError {
  return new ApiError(
    422,
    'Invalid',
    'the server rejected our request due to an error in our request',
    {},
  );
}

/** 415 for a PATCH. */
export function unsupportedPatchType(): ApiError {
  return new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

/** 415 for a PATCH of a custom resource. */
export function unsupportedCustomPatch(): ApiError {
  return new ApiError(
    415,
    'UnsupportedMediaType',
    'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
  );
}

/** 405 for a verb that a subresource of a custom resource does not support. */
export function verbNotSupported({ group, plural }: ResourceName, verb: string): ApiError {
  const what = JSON.stringify(qualified(plural, group));
  return new ApiError(
    405,
    'MethodNotAllowed',
    `${verb} is not supported on resources of kind ${what}`,
    { group, kind: plural },
  );
}

/** 415 for any other body. */
export function unsupportedMediaType(types: readonly string[] = bodyTypes): ApiError {
  const text = 'the body of the request was in an unknown format - accepted media types include:';
  return new ApiError(415, 'UnsupportedMediaType', `${text} ${types.join(', ')}`);
}

const plainTypes = ['application/json', 'application/yaml'];
const bodyTypes = [...plainTypes, 'application/vnd.kubernetes.protobuf'];

/** 415 for protobuf of a kind that is not read from protobuf. */
export function noProtobufKind(): ApiError {
  return unsupportedMediaType(plainTypes);
}

/** 406. */
export function notAcceptable(message: string): ApiError {
  return new ApiError(406, 'NotAcceptable', message);
}

/** 413 for a body beyond the server's bound. */
export function requestTooLarge(what: string): ApiError {
  return new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: ${what}`);
}

/** 410 for a list; `continueToken` is the inconsistent token a client may go on with. */
export function expired(message: string, continueToken?: string): ApiError {
  const error = new ApiError(410, 'Expired', message);
  return continueToken === undefined ? error : withMetadata(error, { continue: continueToken });
}

function withMetadata(error: ApiError, metadata: { readonly [key: string]: Json }): ApiError {
  Object.assign(error, { status: { ...error.status, metadata } });
  return error;
}

/** 504 for a resourceVersion that the store has not reached. */
export function futureResourceVersion(asked: string, current: string): ApiError {
  const message = `Too large resource version: ${asked}, current: ${current}`;
  return new ApiError(504, 'Timeout', `Timeout: ${message}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

/** 503: a server that the API server depends on cannot be reached. */
export function serviceUnavailable(message: string): ApiError {
  return new ApiError(503, 'ServiceUnavailable', message);
}

/** 500 in the plain form, without a reason. */
export function serverError(message: string): ApiError {
  return new ApiError(500, null, message);
}

/** The message of an error, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** 500: something the server needs is not as it should be. */
export function internalError(message: string): ApiError {
  return new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, {
    causes: [{ message }],
  });
}

/** 429 of the eviction subresource; with `retryAfterSeconds` when the budget is not processed yet. */
export function evictionBlocked(message: string, retryAfterSeconds?: number): ApiError {
  return new ApiError(
    429,
    'TooManyRequests',
    "Cannot evict pod as it would violate the pod's disruption budget.",
    {
      causes: [{ reason: 'DisruptionBudget', message }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  );
}

/** 200 of a DELETE that removed an object without showing it. */
export function deleted(resource: ResourceName, name: string, uid: string): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name,
      ...(resource.group ? { group: resource.group } : {}),
      kind: resource.plural,
      ...(uid ? { uid } : {}),
    },
  };
}

/** 201 of a binding or an eviction. */
export function created(): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}
