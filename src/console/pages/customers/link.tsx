import type { Link } from '../../../consumers/links'
import type { Consumer } from '../../../consumers/read'
import { pathsOf, type Visit } from '../../page'
import type { Sent } from '../../refusal'
import { Field, Post, Wrong } from '../../ui/controls'
import { Id } from '../../ui/id'
import { show } from '../../ui/layout'
import { Email, Fact, Head } from '../../ui/parts'
import { VendorLabel } from '../../ui/vendor'
import { CONSUMER } from '../consumers/form'
import { Choices, LinkedBy, type TypeOf } from '../consumers/parts'
import { customerPath, type ShownCustomer } from './read'

/** The forms of the page, as they are filled in. The one that links names a consumer; the other one creates it. */
export type Forms = {
  linking: Sent
  creating: Sent
  /** The consumers that a text can mean, if several do. */
  found?: Consumer[]
  /** Whether there are others than those found. */
  more?: boolean
  /** The consumers that have the customer's email address. */
  same?: Consumer[]
}

const ONE_ALIKE = 'This consumer has the same email address:'
const ALIKE = 'These consumers have the same email address:'

/** Says by hand which consumer a customer is: one that is there, a new one, or none. */
export function linkCustomerPage(c: Visit, of: ShownCustomer, forms: Forms) {
  const { linking, creating, found = [], more = false, same = [] } = forms
  const status = linking.status === 200 ? creating.status : linking.status
  // What is known of the customer fills in the form.
  const { entered = openedFor(of), mistakes } = creating
  const sent = { entered, mistakes }
  const { link, email } = of
  const path = customerPath(c, link)
  const pinned = link.linked_by === 'manual'
  return show(
    c,
    { title: 'Link customer', section: 'unlinked', above: ['Unlinked customers', pathsOf(c).unlinked], status },
    <>
      <Head title={`Which consumer is ${of.name ?? link.id}?`}>
        {pinned && (
          <a class="button" href={`${path}/unpin`} data-dialog>
            Unpin
          </a>
        )}
      </Head>
      <dl class="facts">
        <Fact name="Vendor">
          <VendorLabel name={link.vendor} />
        </Fact>
        <Fact name="ID">
          <Id>{link.id}</Id>
        </Fact>
        {of.name !== null && <Fact name="Name">{of.name}</Fact>}
        {email !== null && (
          <Fact name="Email address">
            <Email of={email} />
          </Fact>
        )}
        <Fact name="Current consumer">
          <ConsumerOf c={c} link={link} />
        </Fact>
      </dl>
      <p class="quiet">Your choice here takes priority over events, until you unpin the customer.</p>
      <h2>Link to an existing consumer</h2>
      <ToChoose c={c} of={of} rows={same} says={same.length === 1 ? ONE_ALIKE : ALIKE} />
      <Post c={c} to={`${path}/consumer`} class="form">
        <Field
          name="consumer"
          label="Consumer"
          value={linking.entered?.get('consumer') ?? ''}
          required
          maxlength={300}
          hint="A name, an email address, your own ID or csm_…"
          mistakes={linking.mistakes}
        />
        <button type="submit" class="primary">
          Link customer
        </button>
      </Post>
      <ToChoose c={c} of={of} rows={found} more={more} />
      <h2>Create a consumer and link to it</h2>
      <Post c={c} to={`${path}/consumer/new`} class="form once">
        <Wrong>{mistakes.form}</Wrong>
        {CONSUMER.field('external_id', sent)}
        {CONSUMER.field('email', sent)}
        {CONSUMER.field('name', sent)}
        <button type="submit">Create and link</button>
      </Post>
      <h2>No consumer</h2>
      <p class="quiet">For a customer that does not belong to any of your consumers, such as a test purchase.</p>
      <Post c={c} to={`${path}/nobody`}>
        <button type="submit">Mark as having no consumer</button>
      </Post>
    </>,
  )
}

type ToChooseProps = { c: Visit; of: ShownCustomer; rows: Consumer[]; more?: boolean; says?: string | undefined }

/** Consumers, each with the button that links the customer to it. */
function ToChoose({ c, of: { link }, rows, more = false, says }: ToChooseProps) {
  if (rows.length === 0) return null
  return (
    <Choices
      c={c}
      rows={rows}
      more={more}
      says={says}
      choose={({ id }) => (
        <Post c={c} to={`${customerPath(c, link)}/consumer`}>
          <input type="hidden" name="consumer" value={id} autocomplete="off" />
          <button type="submit">
            Link<span class="unseen"> to {id}</span>
          </button>
        </Post>
      )}
    />
  )
}

function openedFor({ link, name, email }: ShownCustomer): URLSearchParams {
  return CONSUMER.opened({ external_id: link.consumer_id === null ? link.external_id : '', email, name })
}

type ConsumerProps = { c: Visit; link: Link; title?: string | undefined; typeOf?: TypeOf }

/** Which consumer a customer is, and what says so. @param props.title what the consumer is called, if that is known */
export function ConsumerOf({ c, link, title, typeOf }: ConsumerProps) {
  const { consumer_id, external_id, linked_by } = link
  if (link.erased) return <>None: its consumer was erased.</>
  if (linked_by === null) return <span class="quiet">None. No event identifies one.</span>
  const why = (
    <span class="hint">
      <LinkedBy c={c} of={link} typeOf={typeOf} />
    </span>
  )
  if (consumer_id !== null) {
    return (
      <>
        <a href={`${pathsOf(c).consumers}/${consumer_id}`}>{title ?? external_id ?? consumer_id}</a> {why}
      </>
    )
  }
  if (linked_by === 'manual') return <>No consumer {why}</>
  return (
    <>
      None: no consumer has the ID <code>{external_id}</code> {why}
    </>
  )
}
