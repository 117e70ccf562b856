// A query for alerts by the HTTP API of Prometheus, and what its answer says.
import type { DrainQuestion } from '@taintmgr/core/drain';
import { type ApiRequest, getRequest } from '../proto/api-request.ts';
import { asList, asRecord, asText } from '../proto/json.ts';

type AlertQuery = Extract<DrainQuestion, { kind: 'noAlerts' }>['query'];

export function alertsRequest({ url, query, timeout }: AlertQuery): ApiRequest {
  const request = getRequest('/api/v1/query', { query });
  return { ...request, elsewhere: { url, timeoutMs: timeout } };
}

/** What an answer says. Anything but a whole answer without a result is no leave to go on. */
export type Alerts =
  | { readonly kind: 'none' }
  | { readonly kind: 'some'; readonly message: string }
  | { readonly kind: 'unknown'; readonly message: string };

export function readAlerts(body: unknown): Alerts {
  const { status, data, error, warnings } = asRecord(body);
  if (status !== 'success') return unknown(asText(error) || 'the answer is none of Prometheus');
  const { resultType, result } = asRecord(data);
  if (resultType !== 'vector' || !Array.isArray(result)) {
    return unknown(`the query answers ${asText(resultType) || 'nothing'}, want a vector`);
  }
  const [first, ...others] = result;
  if (first !== undefined) return { kind: 'some', message: alertText(first, others.length) };
  const [warning] = asList(warnings);
  return warning === undefined ? { kind: 'none' } : unknown(asText(warning));
}

function unknown(message: string): Alerts {
  return { kind: 'unknown', message };
}

function alertText(sample: unknown, others: number): string {
  const { alertname, __name__: metric } = asRecord(asRecord(sample).metric);
  const name = asText(alertname) || asText(metric) || 'a series without a name';
  return others === 0 ? `${name} fires` : `${name} fires, and ${others} more`;
}
