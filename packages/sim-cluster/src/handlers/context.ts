import type { Writer } from '../admission/request.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { ApiError, type Cause, futureResourceVersion, invalid } from '../objects/errors.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { hasProtobuf, isOftenRead } from '../protobuf/encode.ts';
import type { Resource } from '../resources/resource.ts';
import { apiVersionOf } from '../resources/resources.ts';
import { forbiddenValue, invalidValue, notSupported, required } from '../validation/causes.ts';
import type { Answer } from '../wire/answer.ts';
import { jsonReply, protobufReply } from '../wire/answer.ts';
import { negotiate, protobufForm, type Representation, takesJson } from '../wire/negotiation.ts';
import { type Backend, type Target, unknownManager } from '../write/backend.ts';
import type { DialNode } from './node-proxy.ts';
import { Presenter } from './representation.ts';
import type { Call, ResourcePath } from './request.ts';
import type { Watchers } from './watchers.ts';

/** What a handler is given: a request whose resource is known and allowed. */
export interface ResourceCall extends Call {
  readonly backend: Backend;
  readonly resource: Resource;
  readonly path: ResourcePath;
  readonly dialNode: DialNode;
  readonly watchers: Watchers;
  readonly authenticator: Authenticator;
  /** Whether the server answers in protobuf where it is asked to. */
  readonly protobuf: boolean;
}

/** The object a request names. */
export function targetOf({ path }: ResourceCall): Target {
  return { namespace: path.namespace, name: path.name };
}

/** Whether the answer is to be in protobuf: where the server prefers it, or the client has no choice. */
export function inProtobuf(call: ResourceCall): boolean {
  return protobufFormOf(call) !== null;
}

function protobufFormOf({
  protobuf,
  request,
  resource,
}: ResourceCall): Representation['form'] | null {
  const form = protobufForm(request.headers);
  if (takesJson(request.headers)) return protobuf && isOftenRead(resource.kind) ? form : null;
  const isKnown = form !== 'object' || hasProtobuf(apiVersionOf(resource), resource.kind);
  return isKnown ? form : null;
}

/** How the client wants objects; 406 when it cannot be served. */
export function presenterOf(call: ResourceCall): Presenter {
  const { info, request, resource, backend } = call;
  const form = protobufFormOf(call);
  const representation: Representation = form
    ? { form, pretty: false }
    : negotiate(request.headers, info.query.get('pretty'));
  const include = info.query.get('includeObject') ?? '';
  return new Presenter(resource, representation, include, () => backend.clock.now());
}

/** One stored object as the client wants it. */
export function objectReply(
  call: ResourceCall,
  status: number,
  stored: KubeObject,
  warnings: readonly string[] = [],
): Answer {
  const object = presenterOf(call).object(stored);
  if (inProtobuf(call)) return protobufReply(status, object, warnings);
  const { pretty } = negotiate(call.request.headers, call.info.query.get('pretty'));
  return jsonReply(status, object, pretty, warnings);
}

const validations = ['', 'Ignore', 'Strict', 'Warn'] as const;
const managerBytesMax = 128;

/** True for `dryRun=All`; 422 for any other value and other odd options, naming the options kind. */
export function readDryRun({ info }: Call, options: string): boolean {
  const { query } = info;
  const values = query.getAll('dryRun');
  const causes = [...managerCauses(query.get('fieldManager') ?? '')];
  if (values.some((value) => value !== 'All')) causes.push(notSupported('dryRun', values, ['All']));
  const validation = query.get('fieldValidation') ?? '';
  if (!validations.some((known) => known === validation)) {
    causes.push(notSupported('fieldValidation', validation, validations));
  }
  if (causes.length > 0) throw invalidOptions(options, causes);
  return values.length > 0;
}

function managerCauses(manager: string): readonly Cause[] {
  const causes: Cause[] = [];
  const field = 'fieldManager';
  if (Buffer.byteLength(manager) > managerBytesMax) {
    const message = `Too long: may not be more than ${managerBytesMax} bytes`;
    causes.push({ reason: 'FieldValueTooLong', message, field });
  }
  for (const { 0: letter, index } of manager.matchAll(/[\p{C}\p{Zl}\p{Zp}]/gu)) {
    const code = (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    const text = `invalid character U+${code} (at position ${index})`;
    causes.push(invalidValue(field, manager, text));
  }
  return causes;
}

/** 422 on the options of a request. */
function invalidOptions(kind: string, causes: readonly Cause[]): Error {
  return invalid({ group: 'meta.k8s.io', kind }, '', causes);
}

/** Lets a refusal carry the warnings that were due before it. */
export function warned<T>(warnings: readonly string[], action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof ApiError) error.warnings = warnings;
    throw error;
  }
}

/** Who writes, for those who judge; what they have to say is added to the warnings. */
export function writerOf({ user, answers, info }: Call, warnings: string[]): Writer {
  const fieldManager = info.query.get('fieldManager');
  const fieldValidation = info.query.get('fieldValidation');
  const options = {
    ...(fieldManager ? { fieldManager } : {}),
    ...(fieldValidation ? { fieldValidation } : {}),
  };
  return { user, answers, options, warn: (text) => warnings.push(text) };
}

/** Who writes: `fieldManager`, or else the User-Agent up to the first slash. */
export function managerOf({ info, request }: Call): string {
  const given = info.query.get('fieldManager') ?? '';
  return given || (request.headers['user-agent'] ?? '').split('/')[0] || unknownManager;
}

/** The manager that server-side apply cannot do without. */
export function requiredManager({ info }: Call): string {
  const manager = info.query.get('fieldManager') ?? '';
  if (manager) return manager;
  throw invalidOptions('PatchOptions', [required('fieldManager', 'is required for apply patch')]);
}

/** Only server-side apply can be forced. */
export function refuseForce({ info }: Call): void {
  if (!info.query.has('force')) return;
  const text = 'may not be specified for non-apply patch';
  throw invalidOptions('PatchOptions', [forbiddenValue('force', text)]);
}

/** How long a read waits for a resourceVersion of the future. */
const futureWaitMs = 3000;

/**
 * Answers at once when the store has reached the resourceVersion; otherwise waits a little and then
 * answers or refuses with 504.
 */
export function whenReached(
  { backend }: ResourceCall,
  asked: string,
  answer: () => Answer,
): Answer {
  const rv = Number(asked);
  if (rv <= backend.store.rv) return answer();
  return {
    kind: 'later',
    delayMs: futureWaitMs,
    answer: () => {
      if (rv <= backend.store.rv) return answer();
      throw futureResourceVersion(asked, String(backend.store.rv));
    },
  };
}
