import { pathsOf, type Visit } from '../../page'
import { totalOf } from '../../ui/refusals'
import { Refresh, Said, Step, Steps, statesOf, waiting } from '../../ui/steps'
import { type Progress, receivedIn } from './read'
import { AnswerStep, ConsumerStep, FeatureStep, PlanStep } from './road-contents'
import { ConnectStep, type DoneSteps, KeyStep, ProcessStep, ReceiveStep, type StepName, UseStep } from './step-contents'

type StepsProps = { c: Visit; of: Progress; seen?: string }

/**
 * The steps of a new project, in their order. `said`: what screen readers announce when the step is done. The call from a server comes
 * last: everything before it can be done on these pages alone.
 */
const STEPS = {
  key: { title: 'Create an API key', said: 'The project has an API key.', Content: KeyStep },
  connect: { title: 'Connect a billing vendor', said: 'A vendor is connected.', Content: ConnectStep },
  receive: { title: 'Receive the first event', said: 'The first event has arrived.', Content: ReceiveStep },
  process: { title: 'Process the first event', said: 'The first event is processed.', Content: ProcessStep },
  feature: { title: 'Create a feature', said: 'The project has a feature.', Content: FeatureStep },
  plan: { title: 'Add the price to a plan', said: 'A plan has a price.', Content: PlanStep },
  consumer: { title: 'Create the consumer', said: 'A customer is linked to a consumer.', Content: ConsumerStep },
  answer: { title: 'Check an entitlement', said: 'The consumer has an entitlement.', Content: AnswerStep },
  use: { title: 'Call the API from your server', said: 'The API key has been used.', Content: UseStep },
} as const satisfies Record<StepName, object>
const NAMES = Object.keys(STEPS) as StepName[]

/** Whether the first event is processed, or ignored: the steps after it are about the first answer. */
export const hasEvent = ({ key, connect, receive, process }: DoneSteps) => key && connect && receive && process

/** Whether nothing is left to do. */
export const isSetUp = (done: DoneSteps) => !Object.values(done).includes(false)

/**
 * Which steps of a new project are done. They follow from what is there; nothing is stored about them. A key counts even after it was
 * revoked. A project that has received live events has no steps about the first answer: it may never need one.
 */
export function doneOf({ answer, keys, revoked, connections, counts }: Progress): DoneSteps {
  const ever = [...keys, ...revoked]
  const isLive = connections.some(({ livemode, last_event_id }) => livemode && last_event_id !== null)
  const { feature, mapped, consumer, allows } = answer
  return {
    key: ever.length > 0,
    connect: connections.some(({ secrets }) => secrets.length > 0),
    receive: receivedIn({ counts }) > 0,
    process: counts.processed + counts.ignored > 0,
    ...(!isLive && {
      feature: feature !== null,
      plan: mapped,
      consumer: consumer !== null,
      answer: consumer !== null && allows,
    }),
    use: ever.some(({ last_used_at }) => last_used_at !== null),
  }
}

/** What the steps show, as a short text that begins with a digit for each step: while it stays the same, there is nothing to replace. */
export function seenOf(of: Progress): string {
  const refused = of.connections.map(({ last_60m }) => totalOf(last_60m.refused))
  const { price, plan, claimed } = of.answer
  const done = Object.values(doneOf(of)).map(Number).join('')
  return [done, of.keys.length, refused.join(), of.counts.failed, price?.ref, plan?.id, claimed].join(' ')
}

/**
 * The steps of a new project, each with what to do. The list updates itself.
 *
 * @param seen what the version on the page shows that this one replaces
 */
export function SetupSteps({ c, of, seen }: StepsProps) {
  const done = doneOf(of)
  const names = NAMES.filter((name) => done[name] !== undefined)
  const states = statesOf(names.map((name) => done[name] === true))
  const isOver = isSetUp(done)
  const { start } = pathsOf(c)
  const turned = names.find((name, at) => done[name] && seen?.[at] === '0')
  return (
    <>
      <div
        {...waiting({
          id: 'steps',
          at: isOver ? null : `${start}/steps`,
          seen: seenOf(of),
          every: done.process ? '15s' : '3s',
        })}
      >
        <Steps>
          {names.map((name, at) => {
            // A project that works shows only what is missing.
            if (done[name] && done.process && !isOver) return null
            const { title, Content } = STEPS[name]
            const state = states[at] ?? 'later'
            return (
              <Step state={state} title={title}>
                <Content c={c} of={of} current={state === 'current'} done={done} />
              </Step>
            )
          })}
        </Steps>
        {isOver ? (
          <p class="well">
            Everything is set up. <a href={start}>Show the overview</a>
          </p>
        ) : (
          <Refresh />
        )}
      </div>
      <Said said={isOver ? 'Everything is set up.' : turned ? STEPS[turned].said : ''} fresh={seen !== undefined} />
    </>
  )
}
