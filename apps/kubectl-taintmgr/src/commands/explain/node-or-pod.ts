// The answers to words after explain of which none is a kind.
import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import { history } from '@taintmgr/k8s-adapter/history';
import { didYouMean } from '@taintmgr/k8s-adapter/manifests';
import { type ClusterReader, ifThere } from '@taintmgr/k8s-adapter/survey';
import { workloadKindWords } from '../../cli/workload-words.ts';
import { subjectKinds } from './flags.ts';

const others = ['device', 'devicetaintrule', 'policy', 'pressure'];
const kinds: readonly string[] = [...subjectKinds, ...workloadKindWords, ...others];
const wanted = `want explain KIND NAME: ${kinds.join(', ')}`;

/** Of `KIND NAME` or `KIND/NAME`, where the kind is none. */
export function unknownKind(kind: string, name: string): string {
  const meant = didYouMean(kind, kinds) || didYouMean(name, kinds);
  const ofNamespace = `; a pod ${name} of namespace ${kind}: explain pod ${name} -n ${kind}`;
  return `there is no kind ${JSON.stringify(kind)}; ${wanted}${meant || ofNamespace}`;
}

/**
 * Tells if a name that the user typed alone is that of a node or of a pod, which may be gone. Throws
 * UsageError: of both, or of none.
 */
export async function nodeOrPod(
  reader: ClusterReader,
  namespace: string,
  name: string,
): Promise<'node' | 'pod'> {
  const [node, pod] = await Promise.all([
    reader.ifAllowed(() => reader.nodeIfThere(name)),
    reader.ifAllowed(() => ifThere(() => reader.pod(namespace, name))),
  ]);
  const what = JSON.stringify(name);
  if (node && pod) {
    throw new UsageError(
      `${what} is a node and a pod of namespace ${namespace}: want explain node ${name} or explain pod ${name}`,
    );
  }
  if (node) return 'node';
  if (pod) return 'pod';
  const unread = reader.refused.map((message) => `; ${message}`).join('');
  const { stories } = await history(reader, { kind: 'pod', namespace, name });
  if (stories.length > 0) return 'pod';
  const meant = didYouMean(name, kinds) || `; of a node that is gone: history node ${name}`;
  throw new UsageError(
    `there is no node ${what}, and no pod in namespace ${namespace}; ${wanted}${meant}${unread}`,
  );
}
