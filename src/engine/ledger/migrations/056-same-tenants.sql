-- Another scope at the same address whose records name the same tenant: an operator decides if they are one.
alter table ledger.scopes add same_tenant_as text references ledger.scopes;
