// The views of all subjects: the question, and the shown answer.

import type { Selectors } from '@taintmgr/k8s-adapter/client';
import {
  decisionName,
  type Explained,
  type PodReport,
  type Subject,
} from '@taintmgr/k8s-adapter/explain';
import type { ForecastSurvey } from '@taintmgr/k8s-adapter/survey';
import type { Answer } from '../../render/printer.ts';

/** A subject, and the way in which it is shown. */
export interface View<D extends object = object> {
  readonly subject: Subject<D>;
  show(explained: Explained<D>): Omit<Answer, 'document'>;
  /** Further commands, where the answer shows that they say more; with a table alone. Left out: none. */
  hints?(explained: Explained<D>): readonly string[];
  /** The objects to watch for changes; left out, or null: too many, they are read repeatedly instead. */
  watched?(survey: ForecastSurvey): Watched | null;
}

/** The nodes and pods whose changes are changes of an answer. */
export interface Watched {
  readonly nodes: Selectors;
  readonly pods: Selectors;
}

/** The answer as it is printed. */
export function answerOf(view: View, explained: Explained): Answer {
  const shown = view.show(explained);
  return {
    get document() {
      return explained.document;
    },
    get rows() {
      return shown.rows;
    },
    names: shown.names,
    table: shown.table,
  };
}

/** `pod/NAME` of the pods that will leave or are leaving. */
export function podNames(pods: readonly PodReport[]): readonly string[] {
  return pods
    .filter((pod) => decisionName(pod) !== 'Keep')
    .map(({ facts }) => `pod/${facts.pod.name}`);
}
