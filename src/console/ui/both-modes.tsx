import { chosenLivemode } from '../mode'
import type { Visit } from '../page'

/** Says that what follows does not follow the switch in the sidebar, while that shows one mode. @param props.children what is of both modes */
export function BothModes({ c, children }: { c: Visit; children: string }) {
  return chosenLivemode(c) === undefined ? null : <p class="quiet">{children} of both modes are shown.</p>
}
