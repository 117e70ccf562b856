// The validation of ValidatingWebhookConfigurations.
import type { Cause, KubeObject } from '@taintmgr/sim-cluster/server';
import {
  duplicateValue,
  invalidValue,
  type LabelSelector,
  labelErrors1035,
  notSupported,
  required,
  subdomainErrors,
  validateMetadata,
  validateSelector,
} from '@taintmgr/sim-cluster/server';
import { type ResourceRule, validateRule } from './match-resources.ts';
import { validateConditions } from './policy.ts';
import { type ClientConfig, validateWebhookAddress } from './webhook-address.ts';

/** A condition that must hold before a webhook is asked. */
interface Condition {
  readonly name: string;
  readonly expression: string;
}

/** A webhook as it is stored, with its defaults. */
export interface WebhookSpec {
  readonly name: string;
  readonly clientConfig: ClientConfig;
  readonly rules?: readonly ResourceRule[];
  readonly failurePolicy: string;
  readonly matchPolicy: string;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly sideEffects?: string;
  readonly timeoutSeconds: number;
  readonly admissionReviewVersions: readonly string[] | null;
  readonly matchConditions?: readonly Condition[];
}

const sideEffects = ['None', 'NoneOnDryRun'] as const;
const reviewVersions: readonly string[] = ['v1', 'v1beta1'];

/** The rules for a configuration; the expressions of its conditions are compiled. */
export function validateWebhooks(configuration: KubeObject): readonly Cause[] {
  const webhooks: readonly WebhookSpec[] = configuration.webhooks ?? [];
  return [
    ...validateMetadata(configuration),
    ...webhooks.flatMap((webhook, at) => {
      const field = `webhooks[${at}]`;
      const isDouble = webhooks.findIndex(({ name }) => name === webhook.name) < at;
      return [
        ...validateWebhook(webhook, field),
        ...validateVersions(
          webhook.admissionReviewVersions ?? [],
          `${field}.admissionReviewVersions`,
        ),
        ...(isDouble && webhook.name ? [duplicateValue(`${field}.name`, webhook.name)] : []),
      ];
    }),
  ];
}

function validateWebhook(webhook: WebhookSpec, field: string): readonly Cause[] {
  const { rules = [], timeoutSeconds, matchConditions = [] } = webhook;
  return [
    ...validateName(webhook.name, `${field}.name`),
    ...rules.flatMap((rule, at) => validateRule(rule, `${field}.rules[${at}]`)),
    ...known(`${field}.failurePolicy`, webhook.failurePolicy, ['Fail', 'Ignore']),
    ...known(`${field}.matchPolicy`, webhook.matchPolicy, ['Equivalent', 'Exact']),
    ...(webhook.sideEffects === undefined
      ? [required(`${field}.sideEffects`, `must specify one of ${sideEffects.join(', ')}`)]
      : known(`${field}.sideEffects`, webhook.sideEffects, sideEffects)),
    ...(timeoutSeconds < 1 || timeoutSeconds > 30
      ? [
          invalidValue(
            `${field}.timeoutSeconds`,
            timeoutSeconds,
            'the timeout value must be between 1 and 30 seconds',
          ),
        ]
      : []),
    ...validateSelector(webhook.namespaceSelector, `${field}.namespaceSelector`),
    ...validateSelector(webhook.objectSelector, `${field}.objectSelector`),
    ...validateWebhookAddress(webhook.clientConfig, `${field}.clientConfig`),
    ...validateConditions(matchConditions, `${field}.matchConditions`, false),
  ];
}

/** A name of three parts at least: `evictions.example.com`. */
function validateName(name: string, field: string): readonly Cause[] {
  if (name === '') return [required(field)];
  const errors = subdomainErrors(name);
  if (errors.length > 0) return [invalidValue(field, name, errors.join(','))];
  if (name.split('.').length >= 3) return [];
  return [
    invalidValue(field, name, 'should be a domain with at least three segments separated by dots'),
  ];
}

function known(field: string, value: string, all: readonly string[]): readonly Cause[] {
  return all.includes(value) ? [] : [notSupported(field, value, all)];
}

function validateVersions(versions: readonly string[], field: string): readonly Cause[] {
  const list = reviewVersions.join(', ');
  if (versions.length === 0) return [required(field, `must specify one of ${list}`)];
  const causes = versions.flatMap((version, at) =>
    versions.indexOf(version) < at
      ? [invalidValue(`${field}[${at}]`, version, 'duplicate version')]
      : labelErrors1035(version).map((error) => invalidValue(`${field}[${at}]`, version, error)),
  );
  if (versions.some((version) => reviewVersions.includes(version))) return causes;
  return [...causes, invalidValue(field, versions, `must include at least one of ${list}`)];
}
