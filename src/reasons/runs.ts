/** Reasons why a run paused or failed: also the verdict on the file that it was loading. */
import type { Reasons } from './reason.ts';

const RESUME = 'then resume the run: `lockstep runs resume {load}`.';

export const RUN_REASONS = {
  KEY_REFUSED: {
    meaning: 'The service refused the API key.',
    remedy: `Put the right key where the settings take it from, ${RESUME}`,
  },
  SERVICE_REFUSED: {
    meaning: 'The service refused a call that the run cannot do without.',
    remedy: `Fix what it says, ${RESUME}`,
  },
  SERVICE_UNREADABLE: {
    meaning: 'An answer of the service could not be read.',
    remedy: 'Run `lockstep doctor` for the account.',
  },
  SERVICE_CERTIFICATE: {
    meaning: 'The certificate of the service is not accepted.',
    remedy: `Renew it, or set NODE_EXTRA_CA_CERTS to its authority, ${RESUME}`,
  },
  SERVICE_WENT_BACK: {
    meaning: 'Records that were confirmed are missing from the list: the service may have been restored from a backup.',
    remedy: 'Check the service; the message of the run says how to go on.',
  },
  CANNOT_BE_CHECKED: {
    meaning: 'The outcome of a call is unknown, and no read can tell it.',
    remedy: 'Look at the service by hand.',
  },
  OPERATION_FORBIDDEN: {
    meaning: 'The API key may not make a call that the run needs.',
    remedy: `Give it the permission, ${RESUME}`,
  },
  IDENTITY_CHANGED: {
    meaning: 'The account is another tenant than before.',
    remedy: 'Check the URL and the key; the message of the run says how to go on.',
  },
  IDENTITY_UNCLEAR: {
    meaning: 'Many known records are other ones than before: it may be another tenant.',
    remedy: 'Check the URL and the key; the message of the run says how to go on.',
  },
  DIALECT_DRIFTED: {
    meaning: 'The service answers in another form than before.',
    remedy: 'Run `lockstep doctor` for the account.',
  },
  ID_NOT_UNIQUE: {
    meaning: 'A list has one id for several records.',
    remedy: 'Run `lockstep doctor` for the account.',
  },
  CUSTOMERS_PAUSED: { meaning: 'The run that creates customers for the load is paused.', remedy: 'Resume that run.' },
  CUSTOMERS_FAILED: {
    meaning: 'The run that creates customers for the load failed.',
    remedy: 'Fix that, then retry the load: `lockstep runs retry {load}`.',
  },
  LOAD_NOT_RECEIVED: {
    meaning: 'The file was not read to its end, so nothing of it was sent.',
    remedy: 'Load it again with the same command.',
  },
  SEND_FAILED: {
    meaning: 'Sending a row failed because of a defect in Lockstep.',
    remedy: 'Please report this defect of Lockstep.',
  },
  JOB_BROKE_OFF: {
    meaning: 'The run failed because of a defect in Lockstep.',
    remedy: 'Please report this defect of Lockstep.',
  },
  AWAITS_CONFIRMATION: {
    meaning: 'The load is planned and waits for approval.',
    remedy: 'Run the same command with `--yes`.',
  },
  WAITS_FOR_RUN: { meaning: 'The run waits for another run.', remedy: 'Look at that one with `lockstep runs`.' },
  API_KEY_INVALID: {
    meaning: 'The API key cannot be sent as a header.',
    remedy: 'Correct it where the settings take it from.',
  },
  AUTHORIZATION_INVALID: {
    meaning: 'The authorization cannot be sent as a header.',
    remedy: 'Correct it where the settings take it from.',
  },
  BASE_URL_INVALID: { meaning: 'The base URL of the account is wrong.', remedy: 'Correct it in the settings.' },
} as const satisfies Reasons;
