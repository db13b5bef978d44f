package contents

// Certificates that register, deregister and delegate stake.
var (
	Registers   = []string{"stake_registration", "reg", "stake_reg_deleg", "vote_reg_deleg", "stake_vote_reg_deleg"}
	Deregisters = []string{"stake_deregistration", "unreg"}
	Delegates   = []string{"stake_delegation", "stake_vote_deleg", "stake_reg_deleg", "stake_vote_reg_deleg"}
)

const (
	RegistersPool = "pool_registration"
	RetiresPool   = "pool_retirement"
)
