import { livemodeIn } from '../mode'
import type { Visit } from '../page'

/** Says that what follows does not follow the switch in the sidebar, while that shows one mode. */
export function BothModes({ c }: { c: Visit }) {
  return livemodeIn(c) === undefined ? null : <p class="quiet">Shows both modes.</p>
}
