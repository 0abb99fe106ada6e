import type { Feature } from '../../../catalog/features'
import type { Plan } from '../../../catalog/plans'
import { MAX_CHANGES } from '../../../entitlements/limits'
import { pathsOf, type Visit } from '../../page'
import { Post } from '../../ui/controls'
import type { Difference } from '../../ui/differences'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { Table } from '../../ui/table'
import { differencesOf, type WantedPlan } from './differences'
import type { ShownPreview } from './read'
import { shownValue } from './values'

type Reviewed = {
  plan: Plan
  wanted: WantedPlan
  catalog: readonly Feature[]
  preview: ShownPreview
  continued: boolean
  /** Whether test-mode subscriptions grant access. */
  testModeCounts: boolean
}

/**
 * Shows a change of a plan before it is saved: what changes of the plan, and who gains and loses what. Its form carries all
 * fields of the form before it.
 */
export function reviewPage(c: Visit, { plan, wanted, catalog, preview, continued, testModeCounts }: Reviewed) {
  const path = `${pathsOf(c).plans}/${plan.id}`
  const differences = differencesOf(plan, wanted, catalog)
  return show(
    c,
    { title: 'Review change', section: 'plans', above: [plan.name, path] },
    <>
      <Head title={`Review the change of “${plan.name}”`} />
      {differences.length > 0 ? (
        <>
          <h2>What changes</h2>
          <Differences of={differences} />
          <Affected c={c} of={preview} catalog={catalog} continued={continued} />
          {preview.affected === 0 && wanted.prices.length > plan.prices.length && (
            <p class="quiet">
              A subscription grants access once its customer is linked to a consumer.
              {!testModeCounts && ' Subscriptions in test mode grant no access in this project.'}
            </p>
          )}
        </>
      ) : (
        <p class="notice">You have not changed anything.</p>
      )}
      <Post c={c} to={`${path}/edit`} class="once">
        {[...c.get('form')]
          .filter(([name]) => !OWN.includes(name))
          .map(([name, value]) => (
            <input type="hidden" name={name} value={value} autocomplete="off" />
          ))}
        {preview.next_cursor !== null && (
          <input type="hidden" name="cursor" value={preview.next_cursor} autocomplete="off" />
        )}
        <div class="choice">
          {differences.length > 0 && (
            <button type="submit" name="step" value="save" class="primary">
              {saves(preview, continued)}
            </button>
          )}
          <button type="submit" name="step" value="edit">
            Back to the form
          </button>
          {preview.next_cursor !== null && (
            <button type="submit" name="step" value="continue">
              Check more subscriptions
            </button>
          )}
          <a class="button" href={path}>
            Cancel
          </a>
        </div>
      </Post>
    </>,
  )
}

/** Fields of the form that each page adds anew. */
const OWN = ['form_token', 'step', 'cursor']

function Differences({ of }: { of: readonly Difference[] }) {
  return (
    <Table
      label="What changes"
      rows={of}
      class="consumers"
      columns={[
        ['Part', ({ what }) => <span class="name">{what}</span>],
        ['Now', ({ from }) => from],
        ['After', ({ to }) => to],
      ]}
    />
  )
}

type AffectedProps = { c: Visit; of: ShownPreview; catalog: readonly Feature[]; continued: boolean }

function Affected({ c, of, catalog, continued }: AffectedProps) {
  const { examined, affected, changes } = of
  const nameOf = (key: string) => catalog.find((one) => one.key === key)?.name ?? key
  const looked = `${plural(examined, `${continued ? 'further ' : ''}subscription`)} or grants checked`
  return (
    <>
      <h2>Who is affected</h2>
      <p>
        {affected === 0
          ? `Nobody ${continued ? 'else ' : ''}gains or loses anything`
          : `${plural(affected, `${continued ? 'further ' : ''}consumer`)} would be affected`}
        {of.has_more ? ` so far. There are more to check: ${looked}.` : '.'}
      </p>
      <ul>
        {[
          ...sums(of.gains, nameOf, ['gains', 'gain']),
          ...sums(of.reductions, nameOf, ['gets less of', 'get less of']),
          ...sums(lostIn(of), nameOf, ['loses', 'lose']),
        ].map((line) => (
          <li>{line}</li>
        ))}
      </ul>
      {changes.length > 0 && (
        <Table
          label="Consumers"
          rows={[...Map.groupBy(changes, ({ consumer }) => consumer)]}
          class="consumers"
          columns={[
            [
              'Consumer',
              ([consumer]) => (
                <a href={`${pathsOf(c).consumers}/${consumer}`}>
                  {of.names.has(consumer) && <span class="name line">{of.names.get(consumer)}</span>}
                  <code>{consumer}</code>
                </a>
              ),
            ],
            ['Feature', ([, own]) => own.map(({ feature }) => <span class="line">{nameOf(feature)}</span>)],
            ['Now', ([, own]) => own.map(({ from }) => <span class="line">{shownValue(from)}</span>)],
            ['After', ([, own]) => own.map(({ to }) => <span class="line">{shownValue(to)}</span>)],
          ]}
        />
      )}
      {changes.length === MAX_CHANGES && <p class="quiet">These are the first {MAX_CHANGES} changes.</p>}
    </>
  )
}

/** What the last button says that it does. A preview that was continued knows only of the further subscriptions. */
function saves({ affected, has_more }: ShownPreview, continued: boolean): string {
  if (continued) return 'Save change'
  if (has_more) return `Save for ${affected.toLocaleString('en')} or more consumers`
  return affected === 0 ? 'Save change' : `Save for ${plural(affected, 'consumer')}`
}

/** How many consumers lose a feature altogether, by its key. */
function lostIn({ losses, reductions }: ShownPreview): Record<string, number> {
  const lost = Object.entries(losses).map(([key, n]) => [key, n - (reductions[key] ?? 0)] as const)
  return Object.fromEntries(lost.filter(([, n]) => n > 0))
}

function sums(
  counts: Record<string, number>,
  nameOf: (key: string) => string,
  [one, many]: [string, string],
): string[] {
  return Object.entries(counts).map(([key, n]) => `${plural(n, 'consumer')} ${n === 1 ? one : many} ${nameOf(key)}`)
}
