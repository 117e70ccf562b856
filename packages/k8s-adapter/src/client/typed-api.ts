// The typed API of @kubernetes/client-node on our transport.
import type { RequestContext, ResponseBody } from '@kubernetes/client-node';
import type { ApiRequest } from '../proto/requests.ts';
import { explainedImport } from '../transport/kube-config.ts';
import type { Transport } from '../transport/sink.ts';
import { exchange } from './exchange.ts';

/** A class of an API in the package `@kubernetes/client-node`, such as CoreV1Api. */
export type TypedApi<T> = new (configuration: never) => T;

/** Stands for the server in the typed API's URLs; where it really is the transport knows. */
const placeholder = 'https://api';

/**
 * A typed API of @kubernetes/client-node whose requests go through the transport: over connections
 * that are kept, with its credentials. Calls reject as that package's do, and with an Error where
 * no answer came.
 */
export async function typedApi<T>(api: TypedApi<T>, transport: Transport): Promise<T> {
  const client = await import('@kubernetes/client-node').catch((error: unknown) => {
    throw explainedImport(error, 'the typed API');
  });
  const { createConfiguration, ServerConfiguration, wrapHttpLibrary } = client;
  const configuration = createConfiguration({
    baseServer: new ServerConfiguration(placeholder, {}),
    httpApi: wrapHttpLibrary({
      send: async (request) => {
        const answer = await exchange(transport, outgoing(request), {
          signal: request.getSignal(),
        });
        if (answer.kind === 'none') throw new Error(answer.message);
        const { status, headers, body } = answer;
        return new client.ResponseContext(status, { ...headers }, wholeBody(body));
      },
    }),
  });
  return Reflect.construct(api, [configuration]);
}

/** The typed API makes no other requests than these. */
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

function outgoing(request: RequestContext): ApiRequest {
  const method = methods.find((one) => one === request.getHttpMethod());
  const body = request.getBody() ?? null;
  if (!method || (body !== null && typeof body !== 'string')) {
    throw new Error(`cannot send ${request.getHttpMethod()} ${request.getUrl()}`);
  }
  const { pathname, search } = new URL(request.getUrl());
  const headers = Object.entries(request.getHeaders()).map(([name, value]) => [
    name.toLowerCase(),
    value,
  ]);
  return { method, path: pathname + search, headers: Object.fromEntries(headers), body };
}

function wholeBody(body: string): ResponseBody {
  return {
    text: async () => body,
    binary: async () => Buffer.from(body),
    stream: () => new Blob([body]).stream(),
  };
}
