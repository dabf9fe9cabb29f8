/** Why a run paused or failed. A file that the run was loading gets the same reason, with the fact `load`. */
import { REMEDIES, type Reasons } from './reason.ts';

const RESUME = 'then resume the run: [?load `lockstep runs resume {load}`][!load `lockstep runs resume {run}`].';

export const RUN_REASONS = {
  KEY_REFUSED: {
    meaning: 'The service refused the API key.',
    remedy: `Put the right key where the settings read it from, ${RESUME}`,
  },
  SERVICE_AWAY: {
    meaning:
      'The service asked for a pause, or the service, Redis or Postgres did not answer, for longer than the run waits.',
    remedy: `Check that the service, Redis and Postgres run and that their addresses are right, ${RESUME}`,
  },
  SERVICE_REFUSED: {
    meaning: 'The service refused a call that the run needs.',
    remedy: `Fix what the message names, ${RESUME}`,
  },
  SERVICE_UNREADABLE: { meaning: 'An answer of the service could not be read.', remedy: REMEDIES.DOCTOR },
  SERVICE_CERTIFICATE: {
    meaning: 'The certificate of the service is not accepted.',
    remedy: `Renew it, or set NODE_EXTRA_CA_CERTS to the file of its authority, ${RESUME}`,
  },
  SERVICE_WENT_BACK: {
    meaning: 'Records that were confirmed are missing from the list: the service may have been restored from a backup.',
    remedy: 'Check the service; the message of the run says how to continue.',
  },
  CANNOT_BE_CHECKED: {
    meaning: 'The outcome of a call is unknown, and no read can determine it.',
    remedy: 'Find out at the service whether the call was applied.',
  },
  OPERATION_FORBIDDEN: {
    meaning: 'The API key may not make a call that the run needs.',
    remedy: `Give it the permission, ${RESUME} If the service forbids the call only for some records, start again without them.`,
  },
  IDENTITY_CHANGED: { meaning: 'The account may be another tenant than before.', remedy: REMEDIES.URL_AND_KEY },
  RUN_OF_OTHER_TENANT: {
    meaning: 'The account was another tenant when the run started, so the run cannot continue.',
    remedy: 'Cancel the run with `lockstep runs cancel {run}`, and start the sync or the load again.',
  },
  IDENTITY_UNCLEAR: {
    meaning:
      'It is not clear which tenant the account is: it shows other records than before, or the records of another account.',
    remedy: REMEDIES.URL_AND_KEY,
  },
  TENANT_CONFIRMED: {
    meaning: 'A person has confirmed the tenant of the account since the run was paused.',
    remedy: 'Resume the run: [?load `lockstep runs resume {load}`][!load `lockstep runs resume {run}`].',
  },
  DIALECT_DRIFTED: { meaning: 'The service answers in another form than before.', remedy: REMEDIES.DOCTOR },
  IDS_CHANGE: { meaning: 'A service gives the same record another id in each answer.', remedy: REMEDIES.DOCTOR },
  ID_NOT_UNIQUE: { meaning: 'Several records of a list have the same id.', remedy: REMEDIES.DOCTOR },
  CUSTOMERS_PAUSED: {
    meaning: 'The run that creates customers for the load is paused.',
    remedy:
      'Fix the cause, then resume the load, which resumes that run too: [?load `lockstep runs resume {load}`][!load `lockstep runs resume {run}`].',
  },
  CUSTOMERS_FAILED: {
    meaning: 'The run that creates customers for the load failed.',
    remedy:
      'Fix the cause, then retry the load: [?load `lockstep runs retry {load}`][!load `lockstep runs retry {run}`].',
  },
  LOAD_NOT_RECEIVED: {
    meaning: 'The file was not read to its end, so nothing of it was sent.',
    remedy: 'Load it again with the same command.',
  },
  SEND_FAILED: { meaning: 'Sending a row failed because of a defect in Lockstep.', remedy: REMEDIES.DEFECT },
  DATABASE_FAILED: { meaning: 'Postgres failed for minutes.', remedy: `Do what the message says, ${RESUME}` },
  JOB_BROKE_OFF: { meaning: 'The run failed because of a defect in Lockstep.', remedy: REMEDIES.DEFECT },
  CANCELLED: {
    meaning: 'A person cancelled the run.',
    remedy:
      'To write the rest, retry the load or run the sync again: Lockstep reads before it writes, so it finds what was sent.',
  },
  NOT_APPROVED: {
    meaning: 'A person declined what the run would write, and it was not sent.',
    remedy: 'Start the run or the load again to see a new plan.',
  },
  AWAITS_CONFIRMATION: {
    meaning: 'The run waits until a person approves what it would write.',
    remedy: REMEDIES.APPROVE,
  },
  WAITS_FOR_RUN: { meaning: 'The run waits for another run.', remedy: 'See that run with `lockstep runs`.' },
  API_KEY_INVALID: { meaning: 'The API key cannot be sent as a header.', remedy: REMEDIES.AT_ITS_SOURCE },
  AUTHORIZATION_INVALID: { meaning: 'The authorization cannot be sent as a header.', remedy: REMEDIES.AT_ITS_SOURCE },
  BASE_URL_INVALID: { meaning: 'The base URL of the account is wrong.', remedy: REMEDIES.IN_SETTINGS },
} as const satisfies Reasons;
