// The list of events and the page of an event: live rows, what says whether they are live, and copying a payload.

/** Copies the whole answer of an address, even if the page shows only the beginning. */
async function copyFrom(button) {
  const label = button.innerHTML
  const text = fetch(button.dataset.copyFrom).then((answer) =>
    answer.ok ? answer.blob() : Promise.reject(new Error(`status ${answer.status}`)),
  )
  try {
    // Not writeText() after the answer: some browsers allow copying only at once.
    const item = new ClipboardItem({ 'text/plain': text.then((blob) => blob.text()) })
    await navigator.clipboard.write([item])
    button.textContent = 'Copied'
    say('Copied')
  } catch {
    button.textContent = 'Not copied'
    say('The payload could not be copied. Download it instead.')
  }
  setTimeout(() => {
    button.innerHTML = label
  }, 2000)
}

function showPayloadButtons() {
  for (const button of document.querySelectorAll('[data-copy-from]')) button.hidden = false
}

// Live rows: each poll asks for events newer than the first row, and for status changes of unfinished events.
const live = {
  /** Whether the reader asked for the new rows that were held back. */
  asked: false,
  /** Whether the reader pressed Pause. */
  stopped: false,
  /** Why the last poll failed, in words; null if it did not. */
  failed: null,
  /** Until when the server asked us to wait (ms). */
  waitUntil: 0,
}

const rowsOf = () => document.querySelector('#events[hx-get]')

/** Shows the rows that were held back, and goes to them. */
function showNew() {
  live.asked = true
  htmx.trigger('#events', 'poll')
  scrollTo(0, 0)
  // The button disappears: what follows it in the order of focus is the table.
  rowsOf().closest('section').focus({ preventScroll: true })
}

/** Whether the user is reading the rows. If so, new rows must not move them. */
function isReading(rows) {
  return scrollY > 120 || rows.matches(':hover, :has(:checked)') || rows.contains(document.activeElement)
}

/** The state of the list as a word and, unless it updates itself, a reason. */
function stateOf(rows) {
  const wait = Math.ceil((live.waitUntil - Date.now()) / 1000)
  if (live.stopped) return ['Paused', 'by you']
  if (wait > 0) return ['Paused', `too many requests; it continues in ${wait} s`]
  if (live.failed !== null) return ['Offline', `${live.failed}; trying again every few seconds`]
  if (document.hidden) return ['Paused', 'this tab is in the background']
  if (isReading(rows)) return ['Paused', 'while you read']
  return ['Updating', '']
}

function showState() {
  const rows = rowsOf()
  const pill = document.querySelector('[data-pill]')
  if (!rows || !pill) return
  const [word, reason] = stateOf(rows)
  const button = document.querySelector('[data-pause]')
  pill.hidden = button.hidden = false
  pill.dataset.pill = word.toLowerCase()
  pill.textContent = word
  button.textContent = live.stopped ? 'Resume' : 'Pause'
  document.querySelector('[data-pill-reason]').textContent = reason
}

function isPaused() {
  return document.hidden || live.stopped || Date.now() < live.waitUntil
}

/** Notes that a poll failed, and says so once. */
function fail(reason) {
  if (live.failed === null) say(`Offline: ${reason}.`)
  live.failed = reason
  showState()
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-copy-from], [data-show-new], [data-pause]')
  if (!button) return
  if (button.dataset.copyFrom) copyFrom(button)
  else if (button.hasAttribute('data-show-new')) showNew()
  else {
    live.stopped = !live.stopped
    showState()
    if (!live.stopped) htmx.trigger('#events', 'poll')
  }
})
document.addEventListener('htmx:beforeRequest', (event) => {
  if (event.target.id === 'events' && !live.asked && isPaused()) event.preventDefault()
})
document.addEventListener('htmx:configRequest', (event) => {
  const rows = event.target
  if (rows.id !== 'events') return
  event.detail.parameters.newest = rows.querySelector('tr')?.id ?? ''
  event.detail.parameters.open = [...rows.querySelectorAll('[data-open]')]
    .map((row) => `${row.id}:${row.dataset.open}`)
    .slice(0, 50)
})
document.addEventListener('htmx:beforeSwap', (event) => {
  if (event.target.id !== 'events' || event.detail.xhr.status !== 200) return
  const fresh = Number(event.detail.xhr.getResponseHeader('X-New-Rows'))
  const hold = fresh > 0 && !live.asked && isReading(event.target)
  const button = document.querySelector('[data-show-new]')
  button.hidden = !hold
  button.textContent = `Show ${fresh} new event${fresh === 1 ? '' : 's'}`
  if (hold) event.detail.shouldSwap = false
  else if (fresh > 0) say(`${fresh} new event${fresh === 1 ? '' : 's'}`)
})
// A row stays chosen when its status changes.
document.addEventListener('htmx:oobBeforeSwap', ({ detail: { target, fragment } }) => {
  const box = fragment.querySelector('[name=id]')
  if (box) box.checked = target.querySelector('[name=id]')?.checked
})
document.addEventListener('htmx:afterRequest', (event) => {
  if (event.target.id !== 'events') return
  live.asked = false
  const { successful, xhr } = event.detail
  if (successful) {
    if (live.failed !== null) say('Updating again.')
    live.failed = null
  } else if (xhr.status === 429) {
    live.waitUntil = Date.now() + 1000 * (Number(xhr.getResponseHeader('Retry-After')) || 30)
  } else if (xhr.status === 0) fail('the server did not answer')
  else fail(`the server answered with an error (${xhr.status})`)
  showState()
})
document.addEventListener('htmx:afterSettle', (event) => {
  if (event.target.id !== 'events') return
  for (const row of [...event.target.querySelectorAll('tr')].slice(100)) row.remove()
  document.getElementById('no-events')?.remove()
})
// The result of a replay, when an update brings it.
document.addEventListener('htmx:afterSettle', (event) => {
  const said = event.target.querySelector('[data-say]')
  if (said) say(said.dataset.say)
})
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && rowsOf()) htmx.trigger('#events', 'poll')
  showState()
})

if (rowsOf()) {
  showState()
  setInterval(showState, 1000)
  for (const kind of ['mouseover', 'mouseout', 'focusin', 'focusout', 'scroll']) {
    document.addEventListener(kind, showState, { passive: true })
  }
}
showPayloadButtons()
