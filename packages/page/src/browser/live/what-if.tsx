// Asks what would happen to the cluster as it is now: a form, how far the answer is, and its page.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { LiveInput } from '../../live.ts';
import { type WhatIfEvent, type WhatIfLine, whatIfEvents } from '../../what-if.ts';

interface WhatIfProps {
  readonly input: LiveInput;
  /** Where to ask. */
  readonly address: string;
  /** The question to ask at once, as the query string of the form; null: none. */
  readonly asked: string | null;
}

/** How far an answer is. */
type Answer =
  | { readonly kind: 'none' }
  | { readonly kind: 'awaited'; readonly text: string; readonly stop: () => void }
  | { readonly kind: 'failed'; readonly text: string; readonly next: string };

const eachPlaces = ['each zone', 'each node'];

export function WhatIfForm({ input, address, asked }: WhatIfProps) {
  const given = useMemo(() => givenBy(asked), [asked]);
  const event = useSignal<WhatIfEvent | undefined>(given.event);
  const where = useSignal(given.where);
  const answer = useSignal<Answer>({ kind: 'none' });
  const form = useRef<HTMLFormElement>(null);
  const { hasPlace = false, hasTaint = false, hasEnd = false } = event.value ?? {};
  const isEach = hasPlace && eachPlaces.includes(where.value.trim());
  const play = (): void => {
    if (form.current) void ask({ address, isEach }, new FormData(form.current), answer);
  };
  useEffect(() => {
    if (asked !== null) play();
  }, []);
  return (
    <details class="what-if" open={asked !== null}>
      <summary>What if …</summary>
      <form
        ref={form}
        aria-label="What if"
        onSubmit={(event) => {
          event.preventDefault();
          play();
        }}
      >
        {hasPlace && <Where input={input} where={where} />}
        <label>
          What happens{' '}
          <select
            name="event"
            value={event.value?.name}
            onChange={({ currentTarget: { value } }) => {
              event.value = whatIfEvents.find(({ name }) => name === value);
            }}
          >
            {whatIfEvents.map(({ name, text }) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {hasTaint && <Taint isEach={isEach} usual={given.taint} />}
        {hasEnd && !isEach && (
          <Choice label="For" name="lasts" options={ends} usual={given.lasts} />
        )}
        <Choice label="Look ahead" name="until" options={horizons} usual={given.until} />
        {!isEach && (
          <label>
            <input type="checkbox" name="both" value="on" /> compare taintmgr-controller with
            kube-controller-manager
          </label>
        )}
        <button type="submit" disabled={answer.value.kind === 'awaited'}>
          Play it
        </button>
        <Outcome answer={answer.value} />
      </form>
      <p class="about">
        Plays it in a copy of the cluster as it is now. Nothing is written to the cluster. With each
        zone or each node one after the other is lost, each in a copy of its own and for good.
      </p>
    </details>
  );
}

/** The initial values of the form. */
interface Given {
  readonly event: WhatIfEvent | undefined;
  readonly where: string;
  readonly taint: string;
  readonly lasts: string;
  readonly until: string;
}

function givenBy(asked: string | null): Given {
  const query = new URLSearchParams(asked ?? '');
  const [first] = whatIfEvents;
  return {
    event: whatIfEvents.find(({ name }) => name === query.get('event')) ?? first,
    where: query.get('where') ?? '',
    taint: query.get('taint') ?? '',
    lasts: query.get('lasts') ?? '10m',
    until: query.get('until') ?? '30m',
  };
}

interface WhereProps extends Pick<WhatIfProps, 'input'> {
  readonly where: Signal<string>;
}

function Where({ input: { zones, nodes }, where }: WhereProps) {
  const named = zones.filter(({ name }) => name !== '').map(({ name }) => `zone ${name}`);
  const places = [...named, ...nodes.map(({ name }) => `node ${name}`)];
  return (
    <label>
      Zone or node{' '}
      <input
        name="where"
        list="places"
        required
        placeholder={places[0] ?? 'node NAME'}
        value={where.value}
        onInput={({ currentTarget: { value } }) => {
          where.value = value;
        }}
      />
      <datalist id="places">
        {[...eachPlaces, ...places].map((place) => (
          <option key={place} value={place} />
        ))}
      </datalist>
    </label>
  );
}

function Taint({ isEach, usual }: { readonly isEach: boolean; readonly usual: string }) {
  const example = isEach ? 'each key in use' : 'key=value:NoExecute';
  return (
    <label>
      Taint <input name="taint" required={!isEach} placeholder={example} defaultValue={usual} />
    </label>
  );
}

type Options = readonly (readonly [value: string, text: string])[];

const ends: Options = [
  ['1m', '1 minute'],
  ['5m', '5 minutes'],
  ['10m', '10 minutes'],
  ['30m', '30 minutes'],
  ['', 'good'],
];
const horizons: Options = [
  ['15m', '15 minutes'],
  ['30m', '30 minutes'],
  ['1h', '1 hour'],
  ['2h', '2 hours'],
  ['6h', '6 hours'],
];

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly options: Options;
  readonly usual: string;
}

function Choice({ label, name, options, usual }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select name={name}>
        {options.map(([value, text]) => (
          <option key={value} value={value} selected={value === usual}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function Outcome({ answer }: { readonly answer: Answer }) {
  if (answer.kind === 'none') return null;
  if (answer.kind === 'awaited') {
    return (
      <>
        <button type="button" onClick={answer.stop}>
          Stop
        </button>
        <output>{answer.text}</output>
      </>
    );
  }
  return (
    <p class="stale" role="alert">
      {/[.?!]$/.test(answer.text) ? answer.text : `${answer.text}.`} {answer.next}
    </p>
  );
}

/** Where to ask, and whether it is about one loss after the other. */
interface Asking {
  readonly address: string;
  readonly isEach: boolean;
}

/** Asks, follows how far it is, and goes to the page of the answer. */
async function ask(
  { address, isEach }: Asking,
  form: FormData,
  answer: Signal<Answer>,
): Promise<void> {
  const query = new URLSearchParams();
  for (const [name, value] of form) if (typeof value === 'string') query.set(name, value);
  const away = new AbortController();
  // Of many losses those that are done have a page.
  const stop = (): void => (isEach ? void fetch(`${address}/stop`) : away.abort());
  answer.value = { kind: 'awaited', text: 'the cluster is read', stop };
  try {
    const response = await fetch(`${address}?${query}`, { signal: away.signal });
    for await (const line of linesOf<WhatIfLine>(response)) {
      if (line.kind === 'progress') answer.value = { kind: 'awaited', text: line.text, stop };
      else if (line.kind === 'error') answer.value = { ...line, kind: 'failed' };
      else {
        answer.value = { kind: 'none' };
        location.assign(line.address);
      }
    }
    if (answer.value.kind === 'awaited') answer.value = cutOff;
  } catch {
    answer.value = away.signal.aborted ? { kind: 'none' } : cutOff;
  }
}

const cutOff: Answer = {
  kind: 'failed',
  text: 'The answer was cut off',
  next: 'Is kubectl taintmgr web still running? Ask again, or start it anew.',
};

/** The lines of an answer as they come, each as JSON has it. Throws where it is cut off. */
async function* linesOf<Line>({ body }: Response): AsyncGenerator<Line> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  while (reader) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = `${rest}${value}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
}
