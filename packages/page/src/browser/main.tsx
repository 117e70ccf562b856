// Starts the page with the data that is in it.
import { signal } from '@preact/signals';
import { render } from 'preact';
import type { PageInput } from '../input.ts';
import { sentenceOf } from '../model/sentence.ts';
import { App } from './app.tsx';
import './page.css';
import { stateOf } from './state.ts';

const data: PageInput = JSON.parse(document.getElementById('data')?.textContent ?? 'null');
const place = document.getElementById('page');
if (place) {
  document.title = `${sentenceOf(data)} - ${data.source}`;
  render(<App state={stateOf(signal(data))} />, place);
}
