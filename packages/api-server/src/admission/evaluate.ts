// Evaluates one policy for one request with one parameter.
import { CelError, type CelValue } from '../cel/value.ts';
import { type Bindings, type Lazy, lazyVariables } from './bindings.ts';
import type { CompiledPolicy, CompiledValidation, Expression } from './compiled-policy.ts';

/** The result of a validation. */
type Decision =
  | { readonly kind: 'admit' }
  /** `reason` null is that of a failure that the policy gives no reason for. */
  | { readonly kind: 'deny'; readonly message: string; readonly reason: string | null };

export interface Verdict {
  /** A decision for each validation; none when the policy's conditions do not hold. */
  readonly decisions: readonly Decision[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
}

const messageBytesMax = 5 * 1024;
const nothing: Verdict = { decisions: [], annotations: [] };

/** Judges; `bindings` holds the parameter too. */
export function evaluatePolicy(policy: CompiledPolicy, bindings: Bindings): Verdict {
  // The conditions do not see the namespace.
  const held = evaluateConditions(policy.conditions, { ...bindings, namespaceObject: null });
  if (held === false) return nothing;
  if (held !== true) return { decisions: [failed(policy, held)], annotations: [] };
  const whole = withVariables(policy, bindings);
  return {
    decisions: policy.validations.map((one) => evaluateValidation(policy, one, whole)),
    annotations: policy.annotations.flatMap(({ key, value }) => {
      const found = value.evaluate(whole);
      return 'value' in found && typeof found.value === 'string'
        ? [{ key, value: found.value }]
        : [];
    }),
  };
}

/**
 * True if all conditions hold, or the error. A condition that does not hold wins over one that
 * fails.
 */
export function evaluateConditions(
  conditions: readonly Expression[],
  bindings: Bindings,
): boolean | string {
  const errors: string[] = [];
  for (const condition of conditions) {
    const found = condition.evaluate(bindings);
    if ('error' in found) errors.push(errorText(condition, found.error));
    else if (found.value !== true) return false;
  }
  if (errors.length === 0) return true;
  return errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`;
}

const errorText = ({ text }: Expression, error: string): string =>
  `expression '${text}' resulted in error: ${error}`;

function failed({ ignoresFailures }: CompiledPolicy, message: string): Decision {
  return ignoresFailures ? { kind: 'admit' } : { kind: 'deny', message, reason: null };
}

/** Each variable sees those before it, and is worked out once. */
function withVariables(policy: CompiledPolicy, bindings: Bindings): Bindings {
  if (!policy.variablesType) return bindings;
  const lazy: Lazy[] = [];
  for (const { name, program, before } of policy.variables) {
    const earlier = [...lazy];
    const read = once(() => {
      const found = program.evaluate({ ...bindings, variables: lazyVariables(earlier, before) });
      if ('value' in found) return found.value;
      throw new CelError(`composited variable "${name}" fails to evaluate: ${found.error}`);
    });
    lazy.push({ name, read });
  }
  return { ...bindings, variables: lazyVariables(lazy, policy.variablesType) };
}

function once(work: () => CelValue): () => CelValue {
  let known: { readonly value: CelValue } | null = null;
  return () => {
    known ??= { value: work() };
    return known.value;
  };
}

function evaluateValidation(
  policy: CompiledPolicy,
  validation: CompiledValidation,
  bindings: Bindings,
): Decision {
  const { expression, given } = validation;
  const found = expression.evaluate(bindings);
  if ('error' in found) return failed(policy, errorText(expression, found.error));
  if (found.value === true) return { kind: 'admit' };
  const message =
    expressedMessage(validation, bindings) ||
    (given.message ?? '').trim() ||
    `failed expression: ${given.expression.trim()}`;
  return { kind: 'deny', message, reason: given.reason ?? 'Invalid' };
}

/** '' when it fails, is empty, too long, or has several lines. */
function expressedMessage({ message }: CompiledValidation, bindings: Bindings): string {
  const found = message?.evaluate(bindings);
  if (!found || !('value' in found) || typeof found.value !== 'string') return '';
  const text = found.value.trim();
  const isFit = Buffer.byteLength(text) <= messageBytesMax && !text.includes('\n');
  return isFit ? text : '';
}
