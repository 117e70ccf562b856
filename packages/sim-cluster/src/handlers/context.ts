import { ApiError, type Cause, futureResourceVersion, invalid } from '../objects/errors.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { forbiddenValue, invalidValue, notSupported } from '../validation/causes.ts';
import { type Answer, jsonReply } from '../wire/answer.ts';
import { negotiate, type Representation } from '../wire/negotiation.ts';
import type { Writer } from '../write/admission.ts';
import { type Target, unknownManager } from '../write/backend.ts';
import type { Call, ResourceCall } from './front.ts';
import { Presenter } from './representation.ts';

/** The object a request names. */
export function targetOf({ path }: ResourceCall): Target {
  return { namespace: path.namespace, name: path.name };
}

/** Presents objects in the form that the client asks for; 406 when no such form can be served. */
export function presenterOf(call: ResourceCall): Presenter {
  const { info, request, formats } = call;
  const form = formats.binary(call)?.form;
  const representation: Representation = form
    ? { form, pretty: false }
    : negotiate(request.headers, info.query.get('pretty'));
  return new Presenter(call, representation);
}

/** A stored object in the form that the client asks for. */
export function objectReply(
  call: ResourceCall,
  status: number,
  stored: KubeObject,
  warnings: readonly string[] = [],
): Answer {
  const object = presenterOf(call).object(stored);
  const binary = call.formats.binary(call);
  if (binary) return binary.reply(status, object, warnings);
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
export function invalidOptions(kind: string, causes: readonly Cause[]): Error {
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

/** The writer, for admission; its messages are added to the warnings. */
export function writerOf({ user, answers, info }: Call, warnings: string[]): Writer {
  const fieldManager = info.query.get('fieldManager');
  const fieldValidation = info.query.get('fieldValidation');
  const options = {
    ...(fieldManager ? { fieldManager } : {}),
    ...(fieldValidation ? { fieldValidation } : {}),
  };
  return { user, answers, options, warn: (text) => warnings.push(text) };
}

/** The field manager: `fieldManager`, or the User-Agent up to the first slash. */
export function managerOf({ info, request }: Call): string {
  const given = info.query.get('fieldManager') ?? '';
  return given || (request.headers['user-agent'] ?? '').split('/')[0] || unknownManager;
}

/** Only server-side apply can be forced. */
export function refuseForce({ info }: Call): void {
  if (!info.query.has('force')) return;
  const text = 'may not be specified for non-apply patch';
  throw invalidOptions('PatchOptions', [forbiddenValue('force', text)]);
}

/** The time that a read waits for a resourceVersion of the future. */
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
