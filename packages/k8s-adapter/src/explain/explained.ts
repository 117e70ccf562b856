// Asks a cluster about a node, a pod or another subject: reads what matters once, and says why and when pods go.
import type { Instant } from '@taintmgr/core/time';
import { ApiClient } from '../client/client.ts';
import { EvictorSearch } from '../client/find-evictors.ts';
import { ClusterReader } from '../survey/reader.ts';
import { type ForecastSurvey, type SurveyOptions, withPast } from '../survey/survey.ts';
import type { Access, Authorization } from '../transport/access.ts';
import { HttpTransport } from '../transport/http-transport.ts';
import { accessOf, type KubeConfigLike } from '../transport/kube-config.ts';
import { Explainer } from './explainer.ts';
import { type Notes, notesOn } from './notes.ts';
import { isWhatIf, present, type Question } from './question.ts';
import { podsIn, type Report, reportOn } from './report.ts';
import { assumedTaints, type Room, readRoom, replacementsDocument, roomNotes } from './room.ts';

/**
 * The way to a cluster: as loadKubeconfig gives it; a KubeConfig of @kubernetes/client-node; a
 * client, whose connections are used and left open; or a reader, which has its own clock.
 */
export type Way = Access | KubeConfigLike | ApiClient | ClusterReader;

/** Something that can be asked about: how the cluster is read for it, and its document. */
export interface Subject<D extends object = object> {
  /** Throws ApiError (NotFound), ConnectionError and UsageError. */
  readonly read: (reader: ClusterReader, question: Question) => Promise<ForecastSurvey>;
  /** Leaves out unrelated parts; left out: everything is asked about. */
  readonly focus?: (report: Report) => Report;
  /** Throws UsageError where the subject has gone between one read and the next. */
  readonly document: (report: Report, context: AnswerContext) => D;
}

/** The part of a question that decides the readings. */
export function surveyOptions(question: Question): SurveyOptions {
  return { files: question.policies, isWhatIf: isWhatIf(question) };
}

/** The survey and the question behind an answer. */
export interface AnswerContext {
  /** All that was read. */
  readonly survey: ForecastSurvey;
  /** The question that is answered. */
  readonly question: Question;
}

/** The memory of earlier readings: the start of a taint that does not name it, and leases. */
class Memory {
  readonly explainer: Explainer;
  #search: { readonly client: ApiClient; readonly search: EvictorSearch } | null = null;

  constructor(question: Question) {
    this.explainer = new Explainer(question);
  }

  readerOf(client: ApiClient): ClusterReader {
    if (this.#search?.client !== client)
      this.#search = { client, search: new EvictorSearch(client) };
    return new ClusterReader(client, undefined, this.#search.search);
  }
}

/** An answer: why and when the pods of a subject go or stay. */
export class Explained<D extends object = object> implements AnswerContext {
  /** When the cluster was read: milliseconds since 1970, by the clock of this machine. */
  readonly at: Instant;
  /** All that was read for the answer. */
  readonly survey: ForecastSurvey;
  /** The question that is answered. */
  readonly question: Question;
  /** The places that replacements find; null: not looked for, or no pod is replaced. */
  readonly room: Room | null;
  /** The answer as values: node by node, pod by pod. */
  readonly report: Report;
  readonly #subject: Subject<D>;
  readonly #memory: Memory;
  #document: D | null = null;

  constructor(
    subject: Subject<D>,
    survey: ForecastSurvey,
    question: Question,
    memory: Memory,
    room: Room | null = null,
  ) {
    this.room = room;
    this.at = survey.at;
    this.survey = survey;
    this.question = question;
    this.#subject = subject;
    this.#memory = memory;
    const report = reportOn(survey, memory.explainer);
    this.report = subject.focus ? subject.focus(report) : report;
  }

  /** The answer as JSON: what `kubectl taintmgr explain ... -o json` prints. Times are RFC 3339, durations seconds. */
  get document(): D {
    this.#document ??= {
      ...this.#subject.document(this.report, this),
      ...(this.room && { replacements: replacementsDocument(this.room) }),
    };
    return this.#document;
  }

  /**
   * The lines that a reader should know before believing the answer, and the things that need a
   * person.
   */
  get notes(): Notes {
    const { warnings, notes } = notesOn(this.survey, this.report, this.question);
    const room = this.room ? roomNotes(this.room) : { warnings: [], notes: [] };
    return { warnings: [...warnings, ...room.warnings], notes: [...notes, ...room.notes] };
  }

  /** The refusals of the API server, in its words: something was not read for want of a right. Empty: everything was. */
  get refused(): readonly string[] {
    return this.survey.refused;
  }

  /** The same as of a later instant, by the same reading. */
  asOf(now: Instant): Explained<D> {
    const survey = { ...this.survey, at: now };
    return new Explained(this.#subject, survey, this.question, this.#memory, this.room);
  }

  /**
   * Reads the cluster again for the same question, and remembers its earlier reading. Throws as the
   * question did.
   */
  again(way: Way): Promise<Explained<D>> {
    return tell(way, this.#subject, this.question, this.#memory);
  }
}

/**
 * Asks about a subject. Parts that `question` leaves out are as things are now. Throws ApiError
 * (NotFound where there is no such object), ConnectionError, and UsageError for a subject that
 * there is not.
 */
export async function explainSubject<D extends object>(
  way: Way,
  subject: Subject<D>,
  question: Partial<Question> = {},
): Promise<Explained<D>> {
  const asked = { ...present, ...question };
  return await tell(way, subject, asked, new Memory(asked));
}

async function tell<D extends object>(
  way: Way,
  subject: Subject<D>,
  question: Question,
  memory: Memory,
): Promise<Explained<D>> {
  const readerOf = (client: ApiClient) => memory.readerOf(client);
  return await withReader(way, readerOf, async (reader) => {
    const survey = await read(reader, subject, question);
    memory.explainer.take(survey);
    const explained = new Explained(subject, survey, question, memory);
    const { findRoom } = question;
    if (!findRoom || !isWhatIf(question)) return explained;
    const assumed = assumedTaints(survey.nodes, question, survey.at);
    const room = await readRoom(reader, podsIn(explained.report), assumed, findRoom);
    return room ? new Explained(subject, survey, question, memory, room) : explained;
  });
}

/** Answers from a survey that was read before, without a request. */
export function explainSurvey<D extends object>(
  survey: ForecastSurvey,
  subject: Subject<D>,
  question: Question,
): Explained<D> {
  const memory = new Memory(question);
  memory.explainer.take(survey);
  return new Explained(subject, survey, question, memory);
}

/** To compare with kube-controller-manager takes the past too. */
async function read(
  reader: ClusterReader,
  subject: Subject,
  question: Question,
): Promise<ForecastSurvey> {
  const survey = await subject.read(reader, question);
  return question.compare ? await withPast(reader, survey) : survey;
}

/** The name of these requests in logs of API servers. */
const userAgent = 'taintmgr-explain';

/** Reads by a way; a connection that it opens is closed at the end. */
export async function withReader<T>(
  way: Way,
  readerOf: (client: ApiClient) => ClusterReader,
  work: (reader: ClusterReader) => Promise<T>,
): Promise<T> {
  if (way instanceof ClusterReader) return await work(way);
  if (way instanceof ApiClient) return await work(readerOf(way));
  const shared = accessOf(way);
  const { server } = shared;
  // Other callers may use the same access meanwhile: it is not closed.
  const authorize = (): Promise<Authorization> => shared.authorize();
  const access = { server, authorize, rejected: (): void => shared.rejected() };
  const transport = new HttpTransport(access, userAgent);
  try {
    return await work(readerOf(new ApiClient({ transport, server })));
  } finally {
    transport.close();
  }
}
