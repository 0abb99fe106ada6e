// Makes the pages of API keys more convenient. They also work without this script.

// A preset ticks its scopes, and ticks choose the preset that has just these, or none.
document.addEventListener('change', ({ target }) => {
  const choice = target.closest('[data-scopes]')
  if (choice) followScopes(choice, target)
  // A date that is no longer shown is not sent either.
  if (target.id === 'expires' && target.value !== 'date') document.getElementById('on').value = ''
})

function followScopes(choice, target) {
  const ticks = [...choice.querySelectorAll('[name=scope]')]
  const scopes = target.dataset.preset?.split(' ')
  if (scopes) for (const tick of ticks) tick.checked = scopes.includes(tick.value)
  if (target.name !== 'scope') return
  const ticked = ticks.filter((tick) => tick.checked).map((tick) => tick.value)
  const isSame = ({ dataset }) => [...dataset.preset.split(' ')].sort().join(' ') === ticked.sort().join(' ')
  const same = [...choice.querySelectorAll('[data-preset]')].find(isSame)
  const chosen = same ?? choice.querySelector('[value=custom]')
  chosen.checked = true
}

// A second click must not send a form whose answer is shown once.
document.addEventListener('submit', (event) => {
  const form = event.target
  if (!form.matches('.once')) return
  if (form.dataset.sent) event.preventDefault()
  form.dataset.sent = 'true'
  setTimeout(() => delete form.dataset.sent, 5000) // The user may have stopped the request.
})
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('.once')) delete form.dataset.sent
})

const unsaved = document.querySelector('[data-unsaved]')
if (unsaved) guardSecret(unsaved, document.getElementById('secret').textContent)

/** Asks before the user leaves the page of a secret, until they have copied it or said that it is stored. */
function guardSecret(page, secret) {
  let stored = false
  const note = (text) => {
    stored ||= text.includes(secret)
  }
  document.addEventListener('copied', ({ detail }) => note(detail))
  document.addEventListener('copy', () => note(String(getSelection())))
  page.querySelector('[data-saved]').addEventListener('click', () => note(secret))
  addEventListener('beforeunload', (event) => {
    if (!stored) event.preventDefault()
  })
  const trial = page.querySelector('[data-try]')
  if (!trial) return
  trial.hidden = false
  trial.querySelector('button').addEventListener('click', () => tryKey(trial, secret))
}

/** Makes a first call with the key, and says what came back. */
async function tryKey({ dataset, lastElementChild: result }, secret) {
  result.textContent = 'Calling…'
  const headers = { Authorization: `Bearer ${secret}`, 'X-Project-Id': dataset.project }
  try {
    const answer = await fetch(dataset.try, { headers, credentials: 'omit' })
    const { key, project, detail } = await answer.json()
    const works = `the key works. It is “${key?.name}” of the project “${project?.name}”.`
    result.textContent = `${answer.status}: ${answer.ok ? works : detail}`
  } catch {
    result.textContent = 'The call failed. Check your connection, and try again.'
  }
  say(result.textContent)
}
