// An AdmissionReview: what a webhook is asked, and what its answer means.

import { isObject } from '../../objects/json.ts';
import type { Json } from '../../objects/kube-object.ts';
import {
  deniedByWebhook,
  unexpectedStatus,
  type WebhookStatus,
} from '../../objects/webhook-errors.ts';
import { requestJson } from '../bindings.ts';
import type { AdmissionRequest, Writer } from '../request.ts';
import type { Said } from './answers.ts';
import type { WebhookOutcome } from './call.ts';
import type { Webhook } from './configurations.ts';

const group = 'admission.k8s.io';

/** The body of the request to a webhook. */
export function reviewText(
  uid: string,
  { version }: Webhook,
  request: AdmissionRequest,
  writer: Writer,
): string {
  const { object, oldObject } = request;
  return JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion: `${group}/${version}`,
    request: { uid, ...(requestJson(request, writer) as object), object, oldObject },
  });
}

interface Response {
  readonly uid?: Json;
  readonly allowed?: Json;
  readonly status?: WebhookStatus;
  readonly warnings?: readonly string[];
  readonly patch?: Json;
  readonly patchType?: Json;
}

/** What a webhook says; a text is why its answer cannot be used, as the real server words it. */
export function readAnswer(webhook: Webhook, uid: string, outcome: WebhookOutcome): Said | string {
  if (outcome.kind === 'failed') return `failed to call webhook: ${outcome.why}`;
  const { status, body } = outcome;
  if (status < 200 || status > 299) {
    return `failed to call webhook: ${unexpectedStatus(status, body)}`;
  }
  const review = parsed(body);
  if (typeof review === 'string') return `failed to call webhook: ${review}`;
  const fault = faultOf(webhook, uid, review);
  if (fault !== null) return `received invalid webhook response: ${fault}`;
  const response = review.response as Response;
  const warnings = (response.warnings ?? []).map(String);
  const refusal =
    response.allowed === true ? null : deniedByWebhook(webhook.name, response.status ?? {});
  return { refusal, warnings };
}

type JsonObject = { readonly [member: string]: Json };

function parsed(body: string): JsonObject | string {
  let value: Json;
  try {
    value = JSON.parse(body) as Json;
  } catch {
    const first = body.trim()[0];
    return `couldn't get version/kind; json parse error: ${
      first === undefined
        ? 'unexpected end of JSON input'
        : `invalid character '${first}' looking for beginning of value`
    }`;
  }
  if (!isObject(value)) {
    return "couldn't get version/kind; json parse error: json: cannot unmarshal into Go value of type struct";
  }
  if (!value.kind) return `Object 'Kind' is missing in '${body.trim()}'`;
  return value;
}

/** In v1beta1 neither the kind nor the uid was looked at. */
function faultOf({ version }: Webhook, uid: string, review: JsonObject): string | null {
  const { response } = review;
  if (!isObject(response)) return 'webhook response was absent';
  if (version === 'v1beta1') return null;
  if (response.uid !== uid) {
    return `expected response.uid="${uid}", got ${JSON.stringify(response.uid ?? '')}`;
  }
  const kind = (of: JsonObject): string => `${of.apiVersion}, Kind=${of.kind}`;
  const expected = { apiVersion: `${group}/v1`, kind: 'AdmissionReview' };
  if (kind(review) !== kind(expected)) {
    return `expected webhook response of ${kind(expected)}, got ${kind(review)}`;
  }
  if (response.patch) return 'validating webhook may not return response.patch';
  if (response.patchType) return 'validating webhook may not return response.patchType';
  return null;
}
