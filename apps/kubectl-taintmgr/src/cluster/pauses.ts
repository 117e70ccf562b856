// The pauses of the cluster: read, made and deleted.
import type { EvictionPause } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import { type ApiClient, ApiError, listRequest, objectRequest } from '@taintmgr/k8s-adapter/client';
import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import { policyApiVersion, policyKinds, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { ifThere, pausesPath } from '@taintmgr/k8s-adapter/survey';

const groupPath = `/apis/${policyApiVersion}`;
const { plural } = policyKinds.EvictionPause;

/** The name of our writes. */
const fieldManager = 'taintmgr';

/** As kubectl calls it: `evictionpause.taintmgr.dev/network-work`. */
export function pauseReference(name: string): string {
  return `evictionpause.${policyApiVersion.split('/')[0]}/${name}`;
}

/** Looks whether the kind is there; the API server's time. Throws UsageError where it is not. */
export async function askForPauses(client: ApiClient): Promise<Instant | null> {
  const answer = await orNotInstalled(client.ask(listRequest(groupPath)));
  const { resources } = answer.value as {
    readonly resources?: readonly { readonly name?: string }[];
  };
  if (!(resources ?? []).some(({ name }) => name === plural)) throw notInstalled();
  return answer.serverTime;
}

/** Makes a pause, or lets the API server check it; what the server has made of it. */
export async function createPause(
  client: ApiClient,
  manifest: object,
  dryRun: boolean,
): Promise<object> {
  const query = `fieldManager=${fieldManager}&fieldValidation=Strict${dryRun ? '&dryRun=All' : ''}`;
  const request = objectRequest('POST', `${pausesPath}?${query}`, manifest);
  return (await orNotInstalled(client.send(request))) as object;
}

/** A pause that is there; null: there is none of the name. With the API server's time. */
export async function readPause(
  client: ApiClient,
  name: string,
  now: Instant,
): Promise<{ readonly pause: EvictionPause | null; readonly now: Instant } | null> {
  return await ifThere(async () => {
    const request = listRequest(`${pausesPath}/${encodeURIComponent(name)}`);
    const { value, serverTime } = await client.ask(request);
    const at = serverTime ?? now;
    return { pause: pauseOf(value, at), now: at };
  });
}

/** Deletes exactly this one; another of its name stays. */
export async function deletePause(client: ApiClient, { name, uid }: Named): Promise<void> {
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
  await client.send(objectRequest('DELETE', `${pausesPath}/${encodeURIComponent(name)}`, options));
}

type Named = Pick<EvictionPause, 'name' | 'uid'>;

function pauseOf(value: unknown, now: Instant): EvictionPause | null {
  const manifest = { apiVersion: policyApiVersion, kind: 'EvictionPause', ...Object(value) };
  const judged = readManifest(manifest, now);
  if (judged.kind === 'refused' || judged.value.kind !== 'EvictionPause') return null;
  return judged.value.value;
}

async function orNotInstalled<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.failure.status === 404) throw notInstalled();
    throw error;
  }
}

function notInstalled(): UsageError {
  return new UsageError(
    'this cluster does not know the kind EvictionPause; install it with: kubectl taintmgr install crds',
  );
}
