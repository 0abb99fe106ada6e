import type { Child } from 'hono/jsx'
import { can, pathsOf, type Visit } from '../../page'
import { Post } from '../../ui/controls'
import { Action, type StepProps } from './step-contents'

const FROM = 'from=overview'

/** The first feature: what the product's code asks for. */
export function FeatureStep({ c, current, done }: StepProps) {
  const { features } = pathsOf(c)
  if (done[5]) {
    return (
      <p class="quiet">
        <a href={features}>Features</a>
      </p>
    )
  }
  return (
    <>
      <p class="quiet">Your code asks for features: may this consumer do it, and how much?</p>
      <Catalog c={c}>
        <Action href={`${features}/new?${FROM}`} current={current}>
          Create a feature
        </Action>
      </Catalog>
    </>
  )
}

/** The first plan with a price: the one that a subscription has. */
export function PlanStep({ c, of: { answer }, current, done }: StepProps) {
  const { plans } = pathsOf(c)
  if (done[6]) {
    return (
      <p class="quiet">
        <a href={plans}>Plans</a>
      </p>
    )
  }
  const { vendor = '', ref = null } = answer.price ?? {}
  if (ref === null) return <p class="quiet">Everyone who pays one of a plan’s prices gets its features.</p>
  return (
    <>
      <p class="quiet">
        The last subscription is for <code>{ref}</code>. Create a plan with this price that includes your feature.
      </p>
      <Catalog c={c}>
        <Action href={`${plans}/new?${new URLSearchParams({ vendor, ref })}&${FROM}`} current={current}>
          Create a plan
        </Action>
      </Catalog>
    </>
  )
}

/** The first consumer that is a customer: the one that an event names. */
export function ConsumerStep({ c, of: { answer }, current, done }: StepProps) {
  const { consumers } = pathsOf(c)
  if (done[7]) {
    return (
      <p class="quiet">
        <a href={`${consumers}/${answer.consumer}`}>A customer is linked to a consumer</a>
      </p>
    )
  }
  const { claimed } = answer
  const style = current ? 'primary' : undefined
  return (
    <>
      <p class="quiet">
        A consumer is an end user of your product, under your own ID.{' '}
        {claimed !== null && (
          <>
            The vendor’s customer has the ID <code>{claimed}</code>.
          </>
        )}
      </p>
      {!can(c, 'consumers:write') ? (
        <p>Ask a developer or admin of this project to create one.</p>
      ) : claimed === null ? (
        <Action href={`${consumers}/new`} current={current}>
          Create a consumer
        </Action>
      ) : (
        <Post c={c} to={consumers} class="once">
          <input type="hidden" name="external_id" value={claimed} autocomplete="off" />
          <p>
            <button type="submit" class={style}>
              Create this consumer
            </button>
          </p>
        </Post>
      )}
    </>
  )
}

/** The first answer: on the page of that consumer, with the call that asks it. */
export function AnswerStep({ c, of: { answer }, current, done }: StepProps) {
  if (!done[7]) return <p class="quiet">Ask what the consumer may do: “Allowed: 5 seats”, with the reason.</p>
  return (
    <>
      <p class="quiet">
        Subscriptions in test mode give no access until you allow it. The page of the consumer says how, and has the
        call that your server makes.
      </p>
      <Action href={`${pathsOf(c).consumers}/${answer.consumer}`} current={current}>
        See what the consumer may do
      </Action>
    </>
  )
}

function Catalog({ c, children }: { c: Visit; children: Child }) {
  return can(c, 'catalog:write') ? children : <p>Ask a developer or admin of this project to create one.</p>
}
