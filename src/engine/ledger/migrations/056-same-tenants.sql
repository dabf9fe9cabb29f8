-- Another scope at the same address whose records name the same tenant; null: none, or an operator has decided.
alter table ledger.scopes add same_tenant_as text references ledger.scopes;
