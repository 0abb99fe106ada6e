import { APPLICATION } from '../../../lib/key-presets'
import { FromField } from '../../from'
import { can, pathsOf, type Visit } from '../../page'
import { Post } from '../../ui/controls'
import { whoMay } from '../../ui/roles'
import { Tabs } from '../../ui/tabs'
import { shownValue } from '../plans/values'
import { askExamples } from './examples'
import type { Entitled, Entitlements } from './read'
import { SoldIn } from './table'

/** @property asked how a call names the consumer */
type Props = { c: Visit; consumer: string; asked: string; of: Entitlements }

/** The answer for one feature, in words, with the call that your server asks it by. Renders nothing without features. */
export function ExampleAnswer({ c, asked, of }: Omit<Props, 'consumer'>) {
  const { all } = of
  // An amount says more than that a feature is on.
  const one = all.find((it) => it.allowed && isAmount(it)) ?? all.find(({ allowed }) => allowed) ?? all[0]
  if (!one) return null
  return (
    <section class="answer" aria-label="The response that your server gets">
      <p>
        {all.length > 1 && 'For example: '}
        <strong>{inWords(one)}</strong>
        <SoldIn c={c} of={of} feature={one.key} reason={one.reason} />
      </p>
      <details>
        <summary>See the API call</summary>
        <p class="quiet">
          Use an API key created for <q>{APPLICATION.label}</q>.
        </p>
        <Tabs group="ask" tabs={askExamples(c, asked, one.key)} />
      </details>
    </section>
  )
}

/** `Allowed: Seats (5)`. A name is a text of its own: nothing around it may depend on its words. */
function inWords(one: Entitled): string {
  const { allowed, value, name } = one
  if (!allowed) return `Not allowed: ${name}`
  return `Allowed: ${name}${isAmount(one) ? ` (${shownValue(value)})` : ''}`
}

const isAmount = ({ value }: Entitled) => typeof value === 'number' || value === 'unlimited'

/** If only test mode stands in the way: what that means, and the switch. */
export function TestMode({ c, consumer, of }: Omit<Props, 'asked'>) {
  if (of.missing !== null || !of.all.some(({ reason }) => reason === 'test_mode')) return null
  return (
    <div class="warning" role="note">
      <p>
        <strong>In this project, test-mode subscriptions do not grant access.</strong> Anyone can subscribe with a test
        card, so turn this on only in a test project.
      </p>
      {can(c, 'projects:write') ? (
        <Post c={c} to={`${pathsOf(c).general}/entitlements`}>
          <FromField c={c} from={consumer} />
          <input type="hidden" name="test_mode_counts" value="true" autocomplete="off" />
          <button type="submit">Grant access in test mode</button>
        </Post>
      ) : (
        <p>Ask {whoMay('projects:write')} of this project to change this under Settings → General.</p>
      )}
    </div>
  )
}
