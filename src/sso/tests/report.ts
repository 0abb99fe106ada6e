import type { Report, Step } from '../../identities/values'
import { utf8 } from '../../lib/crypto'
import { MAX_REPORT, MAX_TEXT } from './limits'

/** A report with its texts cut so that it fits into {@link MAX_REPORT}. */
export function fitted({ steps, would }: Report): Report {
  for (let most = MAX_TEXT; ; most = Math.floor(most / 2)) {
    const cut = (text: string | null) => (text && text.length > most ? `${text.slice(0, most)}…` : text)
    const short = (step: Step) => ({ ...step, expected: cut(step.expected), got: cut(step.got) })
    const report = { steps: steps.map(short), would: cut(would) ?? '' }
    if (utf8(JSON.stringify(report)).byteLength <= MAX_REPORT) return report
  }
}
