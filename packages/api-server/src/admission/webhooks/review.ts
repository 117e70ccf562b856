// An AdmissionReview: what a webhook is asked, and what its answer means.

import type { AdmissionRequest, Json, Said, Writer } from '@taintmgr/sim-cluster/server';
import {
  deniedByWebhook,
  isList,
  isObject,
  unexpectedStatus,
  type WebhookStatus,
} from '@taintmgr/sim-cluster/server';
import { requestJson } from '../bindings.ts';
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
  const isFailure = outcome.status < 200 || outcome.status > 299;
  const review = isFailure ? failureIn(outcome) : read(webhook, outcome);
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

type Answered = Extract<WebhookOutcome, { readonly kind: 'answered' }>;

/** The words of a Status, where the failure has one. */
function failureIn({ status, contentType, body }: Answered): string {
  const isText = contentType === '' || contentType.startsWith('text/');
  const value = parsed(body);
  const isStatus = isObject(value) && value.kind === 'Status' && typeof value.message === 'string';
  return isStatus
    ? String(value.message)
    : unexpectedStatus(status, isText ? body.trim() : 'unknown');
}

/** What was answered as a review, or why it is none. */
function read({ version }: Webhook, { status, contentType, body }: Answered): JsonObject | string {
  if (body === '') {
    return `0-length response with status code: ${status} and content type: ${contentType}`;
  }
  const value = parsed(body);
  if (!isObject(value)) {
    return `couldn't get version/kind; json parse error: json: cannot unmarshal ${typeNameOf(value)} into Go value of type ${anyKind}`;
  }
  const { kind = '', apiVersion = '', response } = value;
  const isReview = kind === 'AdmissionReview' && String(apiVersion).startsWith(`${group}/`);
  if (kind !== '' && !isReview) {
    return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:71"`;
  }
  const given = String(apiVersion).slice(group.length + 1);
  if (kind !== '' && given !== version) {
    return `converting (${given}.AdmissionReview) to (${version}.AdmissionReview): unknown conversion`;
  }
  const allowed = isObject(response) ? (response.allowed ?? false) : false;
  if (typeof allowed !== 'boolean') {
    return `json: cannot unmarshal ${typeNameOf(allowed)} into Go struct field AdmissionResponse.response.allowed of type bool`;
  }
  return value;
}

/** What is no JSON is taken for YAML, which is a text for most. */
function parsed(body: string): Json {
  try {
    return JSON.parse(body) as Json;
  } catch {
    return body;
  }
}

const anyKind =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

function typeNameOf(value: Json): string {
  return isList(value) ? 'array' : isObject(value) ? 'object' : typeof value;
}

/** In v1beta1 neither the kind nor the uid was looked at. */
function faultOf({ version }: Webhook, uid: string, review: JsonObject): string | null {
  const { response } = review;
  if (!isObject(response)) return 'webhook response was absent';
  if (version === 'v1beta1') return null;
  if (response.uid !== uid) {
    return `expected response.uid="${uid}", got ${JSON.stringify(response.uid ?? '')}`;
  }
  const kind = (of: JsonObject): string => `${of.apiVersion ?? '/'}, Kind=${of.kind ?? ''}`;
  const expected = { apiVersion: `${group}/v1`, kind: 'AdmissionReview' };
  if (kind(review) !== kind(expected)) {
    return `expected webhook response of ${kind(expected)}, got ${kind(review)}`;
  }
  if (response.patch) return 'validating webhook may not return response.patch';
  if (response.patchType) return 'validating webhook may not return response.patchType';
  return null;
}
