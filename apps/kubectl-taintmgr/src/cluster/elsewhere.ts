// Finds a pod in other namespaces: who finds none of the name may have left out -n.
import { type ApiClient, ApiError, podsPath } from '@taintmgr/k8s-adapter';
import { choicesText } from '@taintmgr/k8s-adapter/command-line';

/** `pod web-1 is in namespace shop: kubectl taintmgr explain pod web-1 -n shop`; null: none is, or no right to see them. */
export async function podElsewhere(
  client: Pick<ApiClient, 'list'>,
  command: 'explain' | 'history',
  name: string,
): Promise<string | null> {
  const namespaces = await namespacesWith(client, name);
  const [first] = namespaces;
  if (first === undefined) return null;
  const where =
    namespaces.length === 1 ? `namespace ${first}` : `namespaces ${choicesText(namespaces)}`;
  return `pod ${name} is in ${where}: kubectl taintmgr ${command} pod ${name} -n ${first}`;
}

async function namespacesWith(
  client: Pick<ApiClient, 'list'>,
  name: string,
): Promise<readonly string[]> {
  try {
    const pods = await client.list(podsPath, { fieldSelector: `metadata.name=${name}` });
    return pods.map((pod) => Object(pod).metadata?.namespace ?? '').sort();
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}
