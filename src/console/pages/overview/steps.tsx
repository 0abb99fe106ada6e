import { pathsOf, type Visit } from '../../page'
import { totalOf } from '../../ui/refusals'
import { Refresh, Said, Step, Steps, statesOf, waiting } from '../../ui/steps'
import { type Progress, receivedIn } from './read'
import { AnswerStep, ConsumerStep, FeatureStep, PlanStep } from './road-contents'
import { ConnectStep, KeyStep, ProcessStep, ReceiveStep, UseStep } from './step-contents'

type StepsProps = { c: Visit; of: Progress; fresh?: boolean }

/** How many steps lead to the first processed event. */
const TO_EVENT = 5

/** Whether the first event is processed, or ignored: the steps after it are about the first answer. */
export const hasEvent = (done: readonly boolean[]) => done.slice(0, TO_EVENT).every(Boolean)

/**
 * Which steps of a new project are done. They follow from what is there; nothing is stored about them. A key counts even after it was
 * revoked. A project that has received live events has only the steps to the first event: it may never need an answer.
 */
export function doneOf({ answer, ...of }: Progress): boolean[] {
  const isLive = of.connections.some(({ livemode, last_event_id }) => livemode && last_event_id !== null)
  if (isLive) return toEvent(of)
  const { feature, mapped, consumer, allows } = answer
  return [...toEvent(of), feature !== null, mapped, consumer !== null, consumer !== null && allows]
}

function toEvent({ keys, revoked, connections, counts }: Omit<Progress, 'answer'>): boolean[] {
  const ever = [...keys, ...revoked]
  return [
    ever.length > 0,
    ever.some(({ last_used_at }) => last_used_at !== null),
    connections.some(({ secrets }) => secrets.length > 0),
    receivedIn({ counts }) > 0,
    counts.processed + counts.ignored > 0,
  ]
}

/** What the steps show, as a short text: while it stays the same, there is nothing to replace. */
export function seenOf(of: Progress): string {
  const refused = of.connections.map(({ last_60m }) => totalOf(last_60m.refused))
  const { price, claimed } = of.answer
  const done = doneOf(of).map(Number).join('')
  return [done, of.keys.length, refused.join(), of.counts.failed, price?.ref, claimed].join(' ')
}

const SAID = [
  'The project has an API key.',
  'The API key has been used.',
  'A vendor is connected.',
  'The first event has arrived.',
  'The first event is processed.',
  'The project has a feature.',
  'A plan has a price.',
  'A customer is linked to a consumer.',
  'Everything is set up.',
]

/**
 * The steps of a new project, each with what to do. The list updates itself.
 *
 * @param fresh whether this replaces an older version on the page
 */
export function SetupSteps({ c, of, fresh = false }: StepsProps) {
  const done = doneOf(of)
  const states = statesOf(done)
  const steps = [
    KeyStep,
    UseStep,
    ConnectStep,
    ReceiveStep,
    ProcessStep,
    FeatureStep,
    PlanStep,
    ConsumerStep,
    AnswerStep,
  ].slice(0, done.length)
  const left = done.filter((one) => !one).length
  // A project that works shows only what is missing.
  const isShort = left > 0 && done[4] === true
  const at = left === 0 ? null : `${pathsOf(c).start}/steps`
  return (
    <>
      <div {...waiting({ id: 'steps', at, seen: seenOf(of), every: done[4] ? '15s' : '3s' })}>
        <Steps>
          {steps.map(
            (Content, at) =>
              !(isShort && done[at]) && (
                <Step state={states[at] ?? 'later'} title={TITLES[at]}>
                  <Content c={c} of={of} current={states[at] === 'current'} done={done} />
                </Step>
              ),
          )}
        </Steps>
        {left === 0 && (
          <p class="well">
            Everything is set up. <a href={pathsOf(c).start}>Show the overview</a>
          </p>
        )}
        {left > 0 && <Refresh />}
      </div>
      <Said said={SAID[done.lastIndexOf(true)] ?? ''} fresh={fresh} />
    </>
  )
}

const TITLES = [
  'Create an API key',
  'Make your first API call',
  'Connect a billing vendor',
  'Receive the first event',
  'Process the first event',
  'Create a feature',
  'Create a plan for the price',
  'Create the consumer',
  'Check an entitlement',
]
