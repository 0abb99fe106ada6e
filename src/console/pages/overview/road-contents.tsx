import type { Child } from 'hono/jsx'
import type { Scope } from '../../../lib/access'
import { can, pathsOf, type Visit } from '../../page'
import { Post } from '../../ui/controls'
import { stopAfter } from '../../ui/format'
import { whoMay } from '../../ui/roles'
import { queryOf } from '../plans/unmapped'
import { Action, type StepProps } from './step-contents'

const FROM = 'from=overview'

/** The first feature: what the product's code asks for. */
export function FeatureStep({ c, current, done }: StepProps) {
  const { features } = pathsOf(c)
  if (done.feature) return <Done at={features}>Features</Done>
  return (
    <>
      <p class="quiet">Your code checks features: is this consumer allowed, and how much?</p>
      <IfAllowed c={c} scope="catalog:write">
        <Action href={`${features}/new?${FROM}`} current={current}>
          Create a feature
        </Action>
      </IfAllowed>
    </>
  )
}

/** The first plan with a price: the one that a subscription has. It is added to the newest plan, if there is one. */
export function PlanStep({ c, of: { answer }, current, done }: StepProps) {
  const { plans } = pathsOf(c)
  if (done.plan) return <Done at={plans}>Plans</Done>
  const { vendor = '', ref = null } = answer.price ?? {}
  if (ref === null) return <p class="quiet">Everyone who pays for one of a plan’s prices gets its features.</p>
  const { plan } = answer
  return (
    <>
      <p class="quiet">
        The last subscription is for <code>{ref}</code>.{' '}
        {plan ? (
          <>
            Add this price to the plan <b>{plan.name}</b>
            {stopAfter(plan.name)}
          </>
        ) : (
          'Create a plan with this price that includes your feature.'
        )}
      </p>
      <IfAllowed c={c} scope="catalog:write">
        <Action
          href={`${plans}/${plan ? `${plan.id}/edit` : 'new'}?${queryOf({ vendor, ref })}&${FROM}`}
          current={current}
        >
          {plan ? 'Add the price' : 'Create a plan'}
        </Action>
      </IfAllowed>
    </>
  )
}

/** The first consumer that is a customer: the one that an event names. */
export function ConsumerStep({ c, of: { answer }, current, done }: StepProps) {
  const { consumers } = pathsOf(c)
  if (done.consumer) return <Done at={`${consumers}/${answer.consumer}`}>A customer is linked to a consumer</Done>
  const { claimed } = answer
  return (
    <>
      <p class="quiet">
        A consumer is an end user of your product, identified by your own ID.{' '}
        {claimed !== null && (
          <>
            The vendor’s customer has the ID <code>{claimed}</code>.
          </>
        )}
      </p>
      <IfAllowed c={c} scope="consumers:write">
        {claimed === null ? (
          <Action href={`${consumers}/new`} current={current}>
            Create a consumer
          </Action>
        ) : (
          <Post c={c} to={consumers} class="once">
            <input type="hidden" name="external_id" value={claimed} autocomplete="off" />
            <p>
              <button type="submit" class={current ? 'primary' : undefined}>
                Create this consumer
              </button>
            </p>
          </Post>
        )}
      </IfAllowed>
    </>
  )
}

/** The first answer: on the page of that consumer, with the call that asks it. */
export function AnswerStep({ c, of: { answer }, current, done }: StepProps) {
  if (!done.consumer)
    return <p class="quiet">See what the consumer is allowed to do, for example “Allowed: Seats (5)”, and why.</p>
  return (
    <>
      <p class="quiet">
        Test-mode subscriptions grant no access until you allow it. The consumer’s page lets you do that, and shows the
        API call for your server.
      </p>
      <Action href={`${pathsOf(c).consumers}/${answer.consumer}`} current={current}>
        See what the consumer is allowed to do
      </Action>
    </>
  )
}

/** A step that is done: what was made. */
function Done({ at, children }: { at: string; children: string }) {
  return (
    <p class="quiet">
      <a href={at}>{children}</a>
    </p>
  )
}

/** What to do in a step, for those who may. */
function IfAllowed({ c, scope, children }: { c: Visit; scope: Scope; children: Child }) {
  return can(c, scope) ? children : <p>Ask {whoMay(scope)} of this project to create one.</p>
}
